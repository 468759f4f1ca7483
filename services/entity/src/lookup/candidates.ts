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

/** Candidates taken from one tier of keys, and in all: look-ups do bounded work however common a word is. */
const MAX_PER_TIER = 200;
const MAX_CANDIDATES = 400;
/** Taken of each list of keys where an index answers too: in the midst of a load, when MongoDB has much else to do. */
const MAX_MISSED = 40;

/** Candidates by the keys that MongoDB indexes. */
export function createStoredCandidates({ store }: { store: Pick<EntityStore, "findWhere"> }): CandidateSource {
  return async (tenant, { name, address }) => {
    const byName = name ? await findByName(store, tenant, name) : [];
    const byAddress = address === undefined ? [] : await findByAddress(store, tenant, address);
    return { entities: [...byName, ...byAddress], idf: generalIdf };
  };
}

type Finder = Pick<EntityStore, "findWhere">;

/** By the most telling tier of keys first, until there are enough. */
async function findByName(store: Finder, tenant: Tenant, name: NormalizedName): Promise<FoundEntity[]> {
  const found = new Map<string, FoundEntity>();
  for (const keys of queryKeys(name)) {
    if (found.size >= MAX_CANDIDATES) break;
    const tier = await store.findWhere(tenant, { candidate_keys: { $in: keys } }, MAX_PER_TIER);
    for (const entity of tier) found.set(entity._id, entity);
  }
  return [...found.values()];
}

/** What an index that is behind may miss: its answers stand beside these. */
async function findMissed(store: Finder, tenant: Tenant, name: NormalizedName): Promise<FoundEntity[]> {
  const find = (keys: readonly string[]) => store.findWhere(tenant, { candidate_keys: { $in: keys } }, MAX_MISSED);
  return (await Promise.all(plainQueryKeys(name).map(find))).flat();
}

async function findByAddress(store: Finder, tenant: Tenant, address: string): Promise<FoundEntity[]> {
  const { exact, near } = addressQueryKeys(address);
  const there = await store.findWhere(tenant, { address_keys: { $in: [...exact] } }, MAX_PER_TIER);
  if (there.length > 0) return there;
  // The street's name may be mistyped: the houses of that number in the same place are few.
  return store.findWhere(tenant, beginningWith(near), MAX_PER_TIER);
}

/** With an address, a name that is less alike may be meant all the same. */
const HITS = { byName: 12, withAddress: 60 } as const;
/** Names that score less than this are no candidates, whatever the others do. */
const LEAST_SCORE = 0.03;
/**
 * A name alone of so much less evidence than the best is meant less often than once in a thousand: the entity is not
 * read. With an address beside it, it may be.
 */
const CHANCELESS = 7;
/** How far the index may be behind; own entities that changed within this time are compared in any case. */
const RECENT_MS = 10_000;
const MAX_LAG_MS = 8_000;

/**
 * Candidates by the index of names, with what the organization itself changed a moment ago. MongoDB's keys find what
 * the index can't: by address, and by name while there is no index or what it misses while it is behind.
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
      isBehind ? findMissed(store, tenant, name) : [],
      address === undefined ? [] : findByAddress(store, tenant, address),
    ]);
    return { entities: found.flat(), idf: idfOf(answer) };
  };
}

function hitsOf({ hits }: IndexAnswer, { isByName }: { isByName: boolean }): string[] {
  const leastEvidence = isByName ? (hits[0]?.evidence ?? 0) - CHANCELESS : Number.NEGATIVE_INFINITY;
  return hits.filter(({ score, evidence }) => score >= LEAST_SCORE && evidence >= leastEvidence).map(({ id }) => id);
}

function idfOf({ counts, nameCount }: IndexAnswer) {
  return createIdf({ nameCount, namesWith: (word) => counts.get(word) ?? 0 });
}

/** A prefix is a range of the index. Keys are letters, digits, spaces, colons and slashes: nothing is to be escaped. */
function beginningWith(prefixes: readonly string[]): Filter<EntityDocument> {
  return { address_keys: { $in: prefixes.map((prefix) => new RegExp(`^${prefix}`)) } };
}
