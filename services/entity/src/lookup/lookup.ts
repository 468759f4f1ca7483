import { ServiceError } from "@vvs/errors";
import { type IdentifierMap, type IdentifierType, identifierTypes } from "@vvs/identifiers";
import { isNoIdentifier } from "@vvs/identifiers/none";
import { explainOddity } from "@vvs/identifiers/oddities";
import type { Tenant } from "@vvs/tenant";
import { type AddressQuery, addressAgrees } from "../matching/addresses/address.ts";
import type { PartOutcome, Reason } from "../matching/explanation.ts";
import { type ComparedName, namesAgree, readName } from "../matching/names/name-agrees.ts";
import { type IdentifierOutcomes, identifierDetail } from "../matching/score/score-candidate.ts";
import type { FoundEntity } from "../model/documents.ts";
import { ambiguous, DIFFERENT_ENTITIES } from "../model/refusals.ts";
import type { EntityStore } from "../store.ts";
import type { TinVault } from "../tins/tins.ts";
import { type NamedEntities, nameEntities, pick } from "./naming.ts";

/** The criteria of a look-up, at least one. */
export interface Criteria {
  /** Normalized; an ill-formed value matches nothing. */
  readonly identifiers: IdentifierMap;
  /** "" where not given. */
  readonly legalName: string;
  /** One line; "" where not given. */
  readonly address: string;
  /** Whether the candidates of a refusal are explained. */
  readonly explain: boolean;
}

export interface Match {
  readonly entity: FoundEntity;
  readonly confidence: number;
  readonly explanation: readonly Reason[];
}

/**
 * Returns the criteria without identifiers whose text says that there is none, such as N/A. Errors: entity_not_found where
 * nothing else is given.
 */
export function criteriaGiven(criteria: Criteria): Criteria {
  const { identifiers, legalName, address } = criteria;
  const given = identifierTypes.filter((type) => identifiers[type] && !isNoIdentifier(identifiers[type]));
  if (given.length === 0 && !legalName && !address) throw noMatch(identifiers);
  return { ...criteria, identifiers: pick(identifiers, given) };
}

/** Finds the entities named by the identifiers of a look-up. Errors: ambiguous_match where they name different entities. */
export async function nameForLookup(
  stores: { store: EntityStore; tins: TinVault },
  tenant: Tenant,
  { identifiers, explain }: Criteria,
): Promise<NamedEntities> {
  const named = await nameEntities(stores, tenant, identifiers);
  if (named.resolution.kind === "ambiguous") {
    const reasonsOf = (entity: FoundEntity) => identifierReasons(identifierOutcomes(named, identifiers, entity));
    throw ambiguous(named.entities, DIFFERENT_ENTITIES, explain ? reasonsOf : undefined);
  }
  return named;
}

/** Compares the identifiers of a look-up with an entity. What named it agrees, also where it was remembered or is a TIN. */
export function identifierOutcomes(
  named: NamedEntities,
  identifiers: IdentifierMap,
  entity: FoundEntity,
): IdentifierOutcomes {
  const [agreeing, contradicting] = [named.agreementsOf(entity), named.contradictionsOf(entity)];
  const outcomeOf = (type: IdentifierType): PartOutcome =>
    contradicting.includes(type) ? "contradicts" : agreeing.includes(type) ? "agrees" : "absent";
  return new Map(identifierTypes.filter((type) => identifiers[type]).map((type) => [type, outcomeOf(type)]));
}

/** Explains how each identifier of a look-up compares with an entity. */
export function identifierReasons(outcomes: IdentifierOutcomes): Reason[] {
  return [...outcomes].map(([type, outcome]) => {
    const weight = { agrees: 1, contradicts: -1, absent: 0 }[outcome];
    return { criterion: `identifiers.${type}`, outcome, weight, detail: identifierDetail(type, outcome) };
  });
}

/** True where an entity's legal name agrees; a placeholder never does. */
export function agreesOnName(entity: FoundEntity, name: ComparedName): boolean {
  return !entity.placeholder && namesAgree(name, readName(entity.legal_name));
}

export function agreesOnAddress(entity: FoundEntity, address: AddressQuery): boolean {
  return entity.addresses.some((own) => addressAgrees(address, own));
}

/**
 * The 404 of a look-up; it says what is odd about the identifiers without repeating them. `named` are the types of those that
 * name an entity, which has them as they are: it is another criterion that does not agree.
 */
export function noMatch(identifiers: IdentifierMap, named: readonly IdentifierType[] = []): ServiceError {
  const types = named.map((type) => type.toUpperCase()).join(" and ");
  const carried = types === "" ? [] : [`An entity has this ${types}, but does not agree with all criteria.`];
  const oddities = identifierTypes.flatMap((type) => {
    const value = named.includes(type) ? undefined : identifiers[type];
    return value === undefined ? [] : (explainOddity(type, value) ?? []);
  });
  return new ServiceError("entity_not_found", { message: ["No entity matches.", ...carried, ...oddities].join(" ") });
}
