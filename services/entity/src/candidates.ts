import type { Filter } from "mongodb";
import type { EntityDocument, FoundEntity } from "./documents.ts";
import type { CandidateSource } from "./lookup-fuzzy.ts";
import type { HostedIndex, IndexAnswer } from "./match-index/host.ts";
import { addressQueryKeys } from "./matching/address-keys.ts";
import { createIdf, generalIdf } from "./matching/idf.ts";
import { queryKeys } from "./matching/keys.ts";
import type { EntityStore } from "./store.ts";

/** Candidates taken from one tier of keys, and in all: look-ups do bounded work however common a word is. */
const MAX_PER_TIER = 200;
const MAX_CANDIDATES = 400;

/** Candidates by the keys that MongoDB indexes: the most telling tier first, until there are enough. */
export function createStoredCandidates(options: { store: EntityStore }): CandidateSource {
  const { store } = options;
  return async (tenant, { name, address }) => {
    const found = new Map<string, FoundEntity>();
    for (const keys of name ? queryKeys(name) : []) {
      if (found.size >= MAX_CANDIDATES) break;
      const tier = await store.findWhere(tenant, { candidate_keys: { $in: keys } }, MAX_PER_TIER);
      for (const entity of tier) found.set(entity._id, entity);
    }
    if (address !== undefined) {
      const { exact, near } = addressQueryKeys(address);
      const there = await store.findWhere(tenant, { address_keys: { $in: [...exact] } }, MAX_PER_TIER);
      // The street's name may be mistyped: the houses of that number in the same place are few.
      const nearby = there.length > 0 ? [] : await store.findWhere(tenant, beginningWith(near), MAX_PER_TIER);
      for (const entity of [...there, ...nearby]) found.set(entity._id, entity);
    }
    return { entities: [...found.values()], idf: generalIdf };
  };
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
 * the index can't: by address, and by name while there is no index or while it is behind.
 */
export function createIndexedCandidates(options: {
  store: Pick<EntityStore, "findMatches">;
  index: Pick<HostedIndex, "search">;
  stored: CandidateSource;
  now: () => Date;
}): CandidateSource {
  const { store, index, stored, now } = options;
  return async (tenant, query) => {
    const { name, address } = query;
    const limit = address === undefined ? HITS.byName : HITS.withAddress;
    const { environment, organizationId } = tenant;
    const answer = name && (await index.search({ environment, name, organizationId, limit }));
    if (!answer) return stored(tenant, query);
    const isBehind = Date.now() - answer.completeUntil > MAX_LAG_MS;
    const [indexed, others] = await Promise.all([
      store.findMatches(
        tenant,
        hitsOf(answer, { isByName: address === undefined }),
        new Date(now().getTime() - RECENT_MS),
      ),
      isBehind || address !== undefined ? stored(tenant, isBehind ? query : { name: undefined, address }) : undefined,
    ]);
    return { entities: [...indexed, ...(others?.entities ?? [])], idf: idfOf(answer) };
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
