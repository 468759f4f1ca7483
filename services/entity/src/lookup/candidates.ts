import type { Tenant } from "@vvs/tenant";
import type { Filter } from "mongodb";
import { addressQueryKeys } from "../matching/addresses/address-keys.ts";
import { createIdf, generalIdf } from "../matching/names/idf.ts";
import { plainQueryKeys, queryKeys } from "../matching/names/name-keys.ts";
import type { NormalizedName } from "../matching/names/normalize-name.ts";
import type { EntityDocument, FoundEntity } from "../model/documents.ts";
import type { HostedIndex, IndexAnswer } from "../name-index/host.ts";
import type { EntityStore } from "../store.ts";
import type { CandidateSource } from "./lookup-fuzzy.ts";

/** Maximum number of candidates from one tier of keys and in total. */
const MAX_PER_TIER = 200;
const MAX_CANDIDATES = 400;
/** Maximum number for each list of keys beside an index that is behind: then MongoDB is often busy with a load. */
const MAX_MISSED = 40;

/** Finds candidates by the keys in MongoDB. */
export function createStoredCandidates({ store }: { store: Pick<EntityStore, "findWhere"> }): CandidateSource {
  return async (tenant, { name, address }) => {
    const byName = name ? await findByName(store, tenant, name) : [];
    const byAddress = address === undefined ? [] : await findByAddress(store, tenant, address);
    return { entities: [...byName, ...byAddress], idf: generalIdf };
  };
}

type Finder = Pick<EntityStore, "findWhere">;

/** Searches tier by tier, the most specific keys first, until there are enough entities. */
async function findByName(store: Finder, tenant: Tenant, name: NormalizedName): Promise<FoundEntity[]> {
  const found = new Map<string, FoundEntity>();
  for (const keys of queryKeys(name)) {
    if (found.size >= MAX_CANDIDATES) break;
    const tier = await store.findWhere(tenant, { candidate_keys: { $in: keys } }, MAX_PER_TIER);
    for (const entity of tier) found.set(entity._id, entity);
  }
  return [...found.values()];
}

/** Finds entities that an index may miss because it is behind, or because the organization has too many. */
async function findMissed(store: Finder, tenant: Tenant, name: NormalizedName): Promise<FoundEntity[]> {
  const find = (keys: readonly string[]) => store.findWhere(tenant, { candidate_keys: { $in: keys } }, MAX_MISSED);
  return (await Promise.all(plainQueryKeys(name).map(find))).flat();
}

async function findByAddress(store: Finder, tenant: Tenant, address: string): Promise<FoundEntity[]> {
  const { exact, near } = addressQueryKeys(address);
  const there = await store.findWhere(tenant, { address_keys: { $in: [...exact] } }, MAX_PER_TIER);
  if (there.length > 0) return there;
  // The street may be mistyped: few houses in a place have the same number.
  return store.findWhere(tenant, beginningWith(near), MAX_PER_TIER);
}

/** Number of hits: beside an address, a less similar name may be meant too. */
const HITS = { byName: 12, withAddress: 60 } as const;
/** Minimum score of a name. */
const LEAST_SCORE = 0.03;
/** In look-ups only by name, a name with this much less evidence than the best is meant in less than one of 1,000. */
const CHANCELESS = 7;
/** Own entities that changed within this time are always compared; the index may be behind by MAX_LAG_MS. */
const RECENT_MS = 10_000;
const MAX_LAG_MS = 8_000;

/**
 * Finds candidates with the name index, and the organization's own entities that changed recently. MongoDB's keys find
 * the rest: by address, and by name while there is no index or it is behind.
 */
export function createIndexedCandidates(options: {
  store: Pick<EntityStore, "findMatches" | "findWhere">;
  index: Pick<HostedIndex, "search">;
  now: () => Date;
}): CandidateSource {
  const { store, index, now } = options;
  const stored = createStoredCandidates({ store });
  return async (tenant, query) => {
    const { name, address } = query;
    const limit = address === undefined ? HITS.byName : HITS.withAddress;
    const { environment, organizationId } = tenant;
    const answer = name && (await index.search({ environment, name, organizationId, limit }));
    if (!answer) return stored(tenant, query);
    const ids = hitsOf(answer, { isByName: address === undefined });
    const isBehind = now().getTime() - answer.completeUntil > MAX_LAG_MS;
    const found = await Promise.all([
      store.findMatches(tenant, ids, new Date(now().getTime() - RECENT_MS)),
      isBehind || answer.lacksOwn ? findMissed(store, tenant, name) : [],
      address === undefined ? [] : findByAddress(store, tenant, address),
    ]);
    const { nameCount, counts } = answer;
    return { entities: found.flat(), idf: createIdf({ nameCount, namesWith: (word) => counts.get(word) ?? 0 }) };
  };
}

function hitsOf({ hits }: IndexAnswer, { isByName }: { isByName: boolean }): string[] {
  const leastEvidence = isByName ? (hits[0]?.evidence ?? 0) - CHANCELESS : Number.NEGATIVE_INFINITY;
  return hits.filter(({ score, evidence }) => score >= LEAST_SCORE && evidence >= leastEvidence).map(({ id }) => id);
}

/** Each prefix is a range of MongoDB's index. Keys have only letters, digits, spaces, colons and slashes: no escaping. */
function beginningWith(prefixes: readonly string[]): Filter<EntityDocument> {
  return { address_keys: { $in: prefixes.map((prefix) => new RegExp(`^${prefix}`)) } };
}
