import { setTimeout as wait } from "node:timers/promises";
import { inBatches } from "@vvs/batching";
import type { Logger } from "@vvs/logging";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import { type Environment, environments } from "@vvs/tenant";
import type { AnyBulkWriteOperation, Collection, Document, Filter } from "mongodb";
import { nameKeys } from "../matching/names/screening.ts";
import type { Collections } from "../model/documents.ts";
import { asReadBefore } from "../model/entity-writes.ts";
import { MATCH_VERSION, matchKeysOf } from "../model/match-keys.ts";

const BATCH = 200;
const PAUSE_MS = 20;
/** How often outdated keys are looked for: a load or a replica of an older version may write some until it ends. */
const AGAIN_MS = 10 * 60_000;

type Keyed = Pick<Collections, "entities" | "excludedNames">;

/**
 * Recomputes the match keys of excluded names and of entities that older rules made; returns how many. A write of another call,
 * with its own keys, stays.
 */
export async function rekey(collections: Keyed, signal?: AbortSignal): Promise<number> {
  const names = await rekeyNames(collections, signal);
  const entities = await renewOutdated(collections.entities, signal, (entity) => ({
    updateOne: { filter: asReadBefore(entity), update: { $set: matchKeysOf(entity), $inc: { revision: 1 } } },
  }));
  return names + entities;
}

/** Adds the keys of today's rules to excluded names of older ones, by whose keys older replicas still look; returns how many. */
export function rekeyNames({ excludedNames }: Pick<Keyed, "excludedNames">, signal?: AbortSignal): Promise<number> {
  return renewOutdated(excludedNames, signal, ({ _id, name }) => ({
    updateOne: {
      filter: { _id },
      update: { $addToSet: { name_keys: { $each: nameKeys(name) } }, $set: { match_version: MATCH_VERSION } },
    },
  }));
}

async function renewOutdated<D extends Document>(
  collection: Collection<D>,
  signal: AbortSignal | undefined,
  renewal: (outdated: D) => AnyBulkWriteOperation<D>,
): Promise<number> {
  const outdated = { match_version: { $lt: MATCH_VERSION } } as unknown as Filter<D>;
  for (let [renewed, found] = [0, 0]; ; found = 0) {
    // By one cursor: each search would walk over all entries that were changed in the last five minutes.
    for await (const batch of inBatches(collection.find(outdated, { batchSize: BATCH }), BATCH)) {
      if (signal?.aborted) return renewed;
      found += batch.length;
      renewed += (await collection.bulkWrite((batch as D[]).map(renewal), { ordered: false })).modifiedCount;
      await wait(PAUSE_MS);
    }
    if (found === 0) return renewed;
  }
}

/** Recomputes outdated keys of both environments in the background, again and again, and logs how many there were. */
export function startRekeying(options: {
  collections: Readonly<Record<Environment, Keyed>>;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { collections, stopping, logger } = options;
  return superviseLoop({
    async round() {
      for (const environment of environments) {
        const renewed = await rekey(collections[environment], stopping);
        if (renewed > 0) logger.info({ environment, renewed }, "match keys were recomputed");
      }
      return AGAIN_MS;
    },
    failure: "match keys can't be recomputed; trying until they can",
    recovery: "match keys are recomputed again",
    backoff: { firstMs: 1_000, longestMs: 30_000 },
    stopping,
    logger,
  });
}
