import { storedAddressKeys } from "../matching/addresses/address-keys.ts";
import { candidateKeys, exactKeys } from "../matching/names/name-keys.ts";
import { normalizeName } from "../matching/names/normalize-name.ts";
import type { EntityDocument, MatchKeys } from "./documents.ts";

type Matched = Pick<EntityDocument, "legal_name" | "placeholder" | "other_names" | "addresses">;

const MAX_NAMES = 8;

/**
 * Version of the rules that make keys, including normalization and the keys of excluded names (`nameKeys`). Raise it with each
 * change: stored keys are then recomputed.
 */
export const MATCH_VERSION = 8;

/** Returns the keys by which an entity is found by name or address. A placeholder has no name. */
export function matchKeysOf(entity: Matched): MatchKeys {
  const legalNames = entity.placeholder ? [] : [normalizeName(entity.legal_name)];
  const names = [...legalNames, ...entity.other_names.slice(0, MAX_NAMES).map(normalizeName)];
  return {
    name_keys: [...new Set(legalNames.flatMap(exactKeys))],
    candidate_keys: [...new Set(names.flatMap(candidateKeys))],
    address_keys: [...new Set(entity.addresses.flatMap(storedAddressKeys))],
    match_version: MATCH_VERSION,
  };
}

/** Returns the keys of an exact look-up by name; the names of the entities found must still be compared. */
export function nameQueryKeys(legalName: string): string[] {
  return exactKeys(normalizeName(legalName));
}
