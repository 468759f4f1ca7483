import { randomUUID } from "node:crypto";
import { type Db, MongoBulkWriteError } from "mongodb";
import type { Endpoint } from "./endpoint.ts";

/** One page of news; what is beyond comes with the next look. */
export const NEWS_AT_ONCE = 1_000;
const DUPLICATE_KEY = 11_000;

/** The endpoints of one environment, which all replicas share. */
export interface EndpointStore {
  load(ids: readonly string[]): Promise<Endpoint[]>;
  /** Those changed since, by the store's clock, oldest change first. */
  changedSince(since: Date): Promise<Endpoint[]>;
  /** Stores those whose stored form is still of the revision before theirs; returns the ids of the others. */
  save(endpoints: readonly Endpoint[]): Promise<ReadonlySet<string>>;
}

export function createEndpointStore({ db }: { db: Db }): EndpointStore {
  const endpoints = db.collection<Endpoint>("endpoints");
  const me = randomUUID();
  const load = (ids: readonly string[]) => endpoints.find({ _id: { $in: [...ids] } }).toArray();

  /** Returns how many were written. */
  async function write(changed: readonly Endpoint[]): Promise<number> {
    const operations = changed.map((endpoint) => ({
      updateOne: {
        filter: { _id: endpoint._id, organization_id: endpoint.organization_id, rev: endpoint.rev - 1 },
        // The store's clock, so that changes of several replicas have one order.
        update: [
          { $replaceWith: { $mergeObjects: [{ $literal: { ...endpoint, rev_by: me } }, { updated_at: "$$NOW" }] } },
        ],
        upsert: endpoint.rev === 1,
      },
    }));
    try {
      const result = await endpoints.bulkWrite(operations, { ordered: false });
      return result.matchedCount + result.upsertedCount;
    } catch (error) {
      // Another replica was the first to store a new one.
      if (!(error instanceof MongoBulkWriteError) || error.code !== DUPLICATE_KEY) throw error;
      return 0;
    }
  }

  return {
    load,

    changedSince: (since) =>
      endpoints
        .find({ updated_at: { $gte: since } })
        .sort({ updated_at: 1 })
        .limit(NEWS_AT_ONCE)
        .toArray(),

    async save(changed) {
      const unsaved = new Set<string>();
      if (changed.length === 0) return unsaved;
      if ((await write(changed)) === changed.length) return unsaved;
      const stored = new Map((await load(changed.map(({ _id }) => _id))).map((one) => [one._id, one]));
      for (const { _id, rev } of changed) {
        const found = stored.get(_id);
        if (found?.rev !== rev || found.rev_by !== me) unsaved.add(_id);
      }
      return unsaved;
    },
  };
}
