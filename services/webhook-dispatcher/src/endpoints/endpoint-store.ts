import { randomUUID } from "node:crypto";
import { type Db, MongoBulkWriteError } from "mongodb";
import type { Endpoint } from "./endpoint.ts";

/** Maximum number of changes returned by one read; the next read returns the rest. */
export const CHANGES_PER_READ = 1_000;
const DUPLICATE_KEY = 11_000;

export type EndpointStore = ReturnType<typeof createEndpointStore>;

/** The endpoints of one environment, shared by all replicas. */
export function createEndpointStore({ db }: { db: Db }) {
  const endpoints = db.collection<Endpoint>("endpoints");
  const load = (ids: readonly string[]) => endpoints.find({ _id: { $in: ids } }).toArray();

  /** Returns how many endpoints were written. `writer` is unique to this call. */
  async function write(changed: readonly Endpoint[], writer: string): Promise<number> {
    const operations = changed.map((endpoint) => ({
      updateOne: {
        filter: { _id: endpoint._id, organization_id: endpoint.organization_id, rev: endpoint.rev - 1 },
        // The store's clock gives the changes of all replicas one order.
        update: [{ $replaceWith: { $literal: { ...endpoint, rev_by: writer } } }, { $set: { updated_at: "$$NOW" } }],
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

    /** Returns the endpoints changed since then, by the store's clock, oldest change first. */
    changedSince: (since: Date): Promise<Endpoint[]> =>
      endpoints
        .find({ updated_at: { $gte: since } })
        .sort({ updated_at: 1 })
        .limit(CHANGES_PER_READ)
        .toArray(),

    /** Stores the endpoints whose stored revision is still the one before; returns the ids of the others. */
    async save(changed: readonly Endpoint[]): Promise<ReadonlySet<string>> {
      const unsaved = new Set<string>();
      if (changed.length === 0) return unsaved;
      const writer = randomUUID();
      if ((await write(changed, writer)) === changed.length) return unsaved;
      const stored = new Map((await load(changed.map(({ _id }) => _id))).map((one) => [one._id, one]));
      for (const { _id, rev } of changed) {
        const found = stored.get(_id);
        if (found?.rev !== rev || found.rev_by !== writer) unsaved.add(_id);
      }
      return unsaved;
    },
  };
}
