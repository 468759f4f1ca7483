import { type IdentifierMap, type IdentifierType, identifierTypes } from "@vvs/identifiers";

/** The entities that one identifier names. */
export interface Naming {
  readonly type: IdentifierType;
  /** Visible entities that carry it. */
  readonly carriers: readonly string[];
  /** If no entity carries it: those for which the organization remembers it. */
  readonly remembered: readonly string[];
}

export type Resolution =
  | { readonly kind: "none" }
  /** One entity, or several that carry the same identifier. */
  | { readonly kind: "named"; readonly ids: readonly string[] }
  /** Identifiers that name different entities. */
  | { readonly kind: "ambiguous"; readonly ids: readonly string[] };

/**
 * Resolves several identifiers together. Those that are carried must agree on an entity. Remembered ones decide only
 * among several such entities, or where no identifier is carried.
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

/** The given identifiers that an entity carries with another value. */
export function contradictions(
  given: IdentifierMap,
  carried: { readonly [T in IdentifierType]?: string | boolean },
): IdentifierType[] {
  return identifierTypes.filter((type) => {
    const value = carried[type];
    if (given[type] === undefined || value === undefined) return false;
    // Of a TIN, `carried` has only whether it is the same.
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
