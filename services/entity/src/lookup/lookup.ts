import { ServiceError } from "@vvs/errors";
import { type IdentifierMap, type IdentifierType, identifierTypes } from "@vvs/identifiers";
import type { Tenant } from "@vvs/tenant";
import { type AddressQuery, addressAgrees } from "../matching/addresses/address.ts";
import { namesAgree, normalizeName } from "../matching/names/normalize-name.ts";
import type { FoundEntity } from "../model/documents.ts";
import { explainOddity } from "../model/identifiers.ts";
import { ambiguous, DIFFERENT_ENTITIES } from "../model/refusals.ts";
import type { EntityStore } from "../store.ts";
import type { TinVault } from "../tins/tins.ts";
import { type Named, nameEntities } from "./naming.ts";

/** What a look-up asks for; at least one criterion. */
export interface Criteria {
  /** Normalized, perhaps ill-formed: such a value matches nothing. */
  readonly identifiers: IdentifierMap;
  /** "" where not given. */
  readonly legalName: string;
  /** One line; "" where not given. */
  readonly address: string;
  /** Candidates of a refusal come with their reasons. */
  readonly explain: boolean;
}

/** Why an entity matches, criterion by criterion. */
export interface Reason {
  readonly criterion: string;
  readonly outcome: string;
  readonly weight: number;
  readonly detail: string;
  /** What it is made of. */
  readonly parts?: readonly { readonly part: string; readonly outcome: string; readonly weight: number }[];
}

export interface Match {
  readonly entity: FoundEntity;
  readonly confidence: number;
  readonly explanation: readonly Reason[];
}

/** Whom the identifiers of a look-up name. Errors: ambiguous_match, before any other criterion, where they name different ones. */
export async function nameForLookup(
  stores: { store: EntityStore; tins: TinVault },
  tenant: Tenant,
  { identifiers, explain }: Criteria,
): Promise<Named> {
  const named = await nameEntities(stores, tenant, identifiers);
  if (named.resolution.kind === "ambiguous") {
    const reasonsOf = (entity: FoundEntity) =>
      identifierReasons(identifiers, named.agreementsOf(entity), named.contradictionsOf(entity));
    throw ambiguous(named.entities, DIFFERENT_ENTITIES, explain ? reasonsOf : undefined);
  }
  return named;
}

/** What each identifier asked for says of an entity. */
export function identifierReasons(
  identifiers: IdentifierMap,
  agreeing: readonly IdentifierType[],
  contradicting: readonly IdentifierType[] = [],
): Reason[] {
  return identifierTypes
    .filter((type) => identifiers[type] !== undefined)
    .map((type) => {
      const [criterion, name] = [`identifiers.${type}`, type.toUpperCase()];
      if (agreeing.includes(type))
        return { criterion, outcome: "agrees", weight: 1, detail: `the ${name} is the same` };
      return contradicting.includes(type)
        ? { criterion, outcome: "contradicts", weight: 0, detail: `the entity has another ${name}` }
        : { criterion, outcome: "absent", weight: 0, detail: `the entity has no ${name}` };
    });
}

/** Does an entity agree with the name asked for? A placeholder is no name. */
export function agreesOnName(entity: FoundEntity, legalName: string): boolean {
  return !entity.placeholder && namesAgree(normalizeName(legalName), normalizeName(entity.legal_name));
}

/** Does one of the entity's addresses agree with the one asked for? */
export function agreesOnAddress(entity: FoundEntity, address: AddressQuery): boolean {
  return entity.addresses.some((own) => addressAgrees(address, own));
}

/** The 404 of a look-up: says what is odd about the identifiers given, never repeating one. */
export function noMatch(identifiers: IdentifierMap): ServiceError {
  const oddities = identifierTypes.flatMap((type) => {
    const value = identifiers[type];
    return value === undefined ? [] : (explainOddity(type, value) ?? []);
  });
  return new ServiceError("entity_not_found", { message: ["No entity matches.", ...oddities].join(" ") });
}
