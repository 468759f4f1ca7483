import type { IdentifierType } from "@vvs/identifiers";
import type { Tenant } from "@vvs/tenant";
import { readAddress } from "../matching/addresses/address.ts";
import { addressQueryKeys } from "../matching/addresses/address-keys.ts";
import { scoreAddress } from "../matching/addresses/score-address.ts";
import type { Reason } from "../matching/explanation.ts";
import { readName } from "../matching/names/name-agrees.ts";
import type { IdentifierOutcomes } from "../matching/score/score-candidate.ts";
import type { FoundEntity } from "../model/documents.ts";
import { nameQueryKeys } from "../model/match-keys.ts";
import { ambiguous, SEVERAL_ENTITIES } from "../model/refusals.ts";
import type { EntityStore } from "../store.ts";
import type { TinVault } from "../tins/tins.ts";
import {
  agreesOnAddress,
  agreesOnName,
  type Criteria,
  identifierOutcomes,
  identifierReasons,
  type Match,
  nameForLookup,
  noMatch,
} from "./lookup.ts";

interface Stores {
  readonly store: EntityStore;
  readonly tins: TinVault;
}

interface Found {
  readonly entity: FoundEntity;
  readonly outcomes: IdentifierOutcomes;
}

/** Maximum number of entities of one name or one house that are compared. */
const MAX_COMPARED = 500;

/**
 * Finds the one entity that agrees with every criterion: an identifier names it and none contradicts it, and its legal
 * name and an address agree. Errors: entity_not_found, ambiguous_match.
 */
export function createExactLookup(stores: Stores) {
  return async (tenant: Tenant, criteria: Criteria): Promise<Match> => {
    const { identifiers, legalName, address } = criteria;
    const { found, types } = await findByFirstCriterion(stores, tenant, criteria);
    const name = legalName === "" ? undefined : readName(legalName);
    const place = address === "" ? undefined : readAddress(address);
    const matching = found
      .filter(({ entity }) => !name || agreesOnName(entity, name))
      .filter(({ entity }) => !place || agreesOnAddress(entity, place));
    const [match, other] = matching;
    if (!match) throw noMatch(identifiers, types);
    if (other) {
      const reasons = new Map(matching.map((found) => [found.entity._id, explain(criteria, found)]));
      throw ambiguous(
        matching.map(({ entity }) => entity),
        SEVERAL_ENTITIES,
        criteria.explain ? ({ _id }) => reasons.get(_id)! : undefined,
      );
    }
    return { entity: match.entity, confidence: 1, explanation: explain(criteria, match) };
  };
}

/** Returns the entities found by identifiers, else by name and address, and the types of identifiers that name any. */
async function findByFirstCriterion(
  stores: Stores,
  tenant: Tenant,
  criteria: Criteria,
): Promise<{ found: readonly Found[]; types: readonly IdentifierType[] }> {
  const { identifiers, legalName, address } = criteria;
  if (Object.keys(identifiers).length > 0) {
    const named = await nameForLookup(stores, tenant, criteria);
    const found = named.entities
      .filter((entity) => named.contradictionsOf(entity).length === 0)
      .map((entity) => ({ entity, outcomes: identifierOutcomes(named, identifiers, entity) }));
    return { found, types: named.types };
  }
  const byName = legalName !== "" && { name_keys: { $in: nameQueryKeys(legalName) } };
  const byAddress = address !== "" && { address_keys: { $in: [...addressQueryKeys(address).exact] } };
  const find = (filter: Parameters<EntityStore["findWhere"]>[1]) =>
    stores.store.findWhere(tenant, filter, MAX_COMPARED);
  const found = await find({ ...byName, ...byAddress });
  // The keys lack some ways to write an address.
  const entities = found.length === 0 && byName && byAddress ? await find(byName) : found;
  return { found: entities.map((entity) => ({ entity, outcomes: new Map() })), types: [] };
}

/** Weighs all criteria that agree equally, because each is required; the weights add up to the confidence of 1. */
function explain({ legalName, address }: Criteria, { entity, outcomes }: Found): Reason[] {
  const reasons = identifierReasons(outcomes);
  if (legalName !== "") {
    const detail = "the names are equal but for spelling";
    reasons.push({ criterion: "legal_name", outcome: "agrees", weight: 1, detail });
  }
  const compared = address === "" ? undefined : scoreAddress(readAddress(address), entity.addresses);
  if (compared) {
    const { detail, parts } = compared;
    reasons.push({ criterion: "address", outcome: "agrees", weight: 1, detail, parts });
  }
  const agreeing = reasons.filter(({ outcome }) => outcome === "agrees").length;
  return reasons.map((reason) => ({ ...reason, weight: Math.round((reason.weight / agreeing) * 1000) / 1000 }));
}
