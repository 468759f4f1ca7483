import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import { type Environment, environments } from "@vvs/tenant";
import { nameKeys } from "../matching/names/screening.ts";
import type { Collections } from "../model/documents.ts";
import { asReadBefore } from "../model/entity-writes.ts";
import { MATCH_VERSION, matchKeysOf } from "../model/match-keys.ts";

const BATCH = 200;
const PAUSE_MS = 20;
const RETRY_MS = 30_000;

type Keyed = Pick<Collections, "entities" | "excludedNames">;

/**
 * Recomputes the match keys of entities and of excluded names that older rules made; returns how many. A write of another call,
 * with its own keys, stays.
 */
export async function rekey({ entities, excludedNames }: Keyed, signal?: AbortSignal): Promise<number> {
  const outdated = { $or: [{ match_version: { $lt: MATCH_VERSION } }, { match_version: { $exists: false } }] };
  for (let renewed = 0; ; await wait(PAUSE_MS)) {
    const batch = await entities.find(outdated).limit(BATCH).toArray();
    const names = await excludedNames.find(outdated).limit(BATCH).toArray();
    if (batch.length + names.length === 0 || signal?.aborted) return renewed;
    const ofEntities = batch.map((entity) => ({
      updateOne: { filter: asReadBefore(entity), update: { $set: matchKeysOf(entity), $inc: { revision: 1 } } },
    }));
    const ofNames = names.map(({ _id, name }) => ({
      updateOne: { filter: { _id }, update: { $set: { name_keys: nameKeys(name), match_version: MATCH_VERSION } } },
    }));
    const options = { ordered: false };
    if (batch.length > 0) renewed += (await entities.bulkWrite(ofEntities, options)).modifiedCount;
    if (names.length > 0) renewed += (await excludedNames.bulkWrite(ofNames, options)).modifiedCount;
  }
}

/** Recomputes outdated keys of both environments in the background, and logs when it has finished. */
export function startRekeying(options: { collections: Readonly<Record<Environment, Keyed>>; logger: Logger }): {
  stop(): Promise<void>;
} {
  const { collections, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const renewIn = async (environment: Environment) => {
    while (!signal.aborted) {
      try {
        const renewed = await rekey(collections[environment], signal);
        if (renewed > 0) logger.info({ environment, renewed }, "match keys were recomputed");
        return;
      } catch (err) {
        logger.error({ err, environment }, "match keys can't be recomputed now");
        await wait(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  const running = Promise.all(environments.map(renewIn));
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
