import { type IdentifierMap, type IdentifierType, identifierTypes } from "@vvs/identifiers";

/** Whom one identifier names. */
export interface Naming {
  readonly type: IdentifierType;
  /** Visible entities that carry it. */
  readonly carriers: readonly string[];
  /** Where none carries it: entities for which the organization remembers it. */
  readonly remembered: readonly string[];
}

export type Resolution =
  | { readonly kind: "none" }
  /** All named entities: one, or several that carry the same identifier. */
  | { readonly kind: "named"; readonly ids: readonly string[] }
  /** Identifiers that name different entities. */
  | { readonly kind: "ambiguous"; readonly ids: readonly string[] };

/**
 * What identifiers name together. Those that are carried must agree on an entity; a remembered one yields to them, and
 * counts only among several that they leave, or where nothing is carried.
 */
export function resolve(namings: readonly Naming[]): Resolution {
  const carried = namings.map(({ carriers }) => carriers).filter((ids) => ids.length > 0);
  const remembered = namings
    .filter(({ carriers }) => carriers.length === 0)
    .map((naming) => naming.remembered)
    .filter((ids) => ids.length > 0);
  if (carried.length === 0) return agreement(remembered);
  const agreed = agreement(carried);
  if (agreed.kind !== "named") return agreed;
  return { kind: "named", ids: remembered.reduce(narrowed, agreed.ids) };
}

/** The identifiers given that an entity carries with another value. One that it does not carry is no contradiction. */
export function contradictions(
  given: IdentifierMap,
  carried: { readonly [T in IdentifierType]?: string | boolean },
): IdentifierType[] {
  return identifierTypes.filter((type) => {
    const value = carried[type];
    if (given[type] === undefined || value === undefined) return false;
    // A TIN is compared by its hash: what is carried is only whether it is the same.
    return typeof value === "boolean" ? !value : value !== given[type];
  });
}

function agreement(sets: readonly (readonly string[])[]): Resolution {
  const [first, ...rest] = sets;
  if (!first) return { kind: "none" };
  const ids = rest.reduce((left, set) => left.filter((id) => set.includes(id)), [...new Set(first)]);
  return ids.length > 0 ? { kind: "named", ids } : { kind: "ambiguous", ids: [...new Set(sets.flat())] };
}

function narrowed(ids: readonly string[], set: readonly string[]): readonly string[] {
  const both = ids.filter((id) => set.includes(id));
  return both.length > 0 ? both : ids;
}
