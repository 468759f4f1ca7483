import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import { createLeases, type LeasedWork, type Leases, runLeasedWork, shardOf } from "@vvs/outbox";
import type { ClientSession, Db, Filter, MongoClient } from "mongodb";
import type { EventDocument } from "../model/monitor.ts";
import { collections, ifUnavailable } from "../store.ts";

/** Maximum number of events numbered by one transaction. */
const BATCH = 500;
/** Pause between two searches for events of other replicas, which send no nudge, in milliseconds. */
const POLL_MS = 250;

/** The index of the events without a position, and the order in which they are numbered. */
export const UNNUMBERED = {
  name: "unnumbered",
  filter: { position: null } as unknown as Filter<EventDocument>,
  order: { organization_id: 1, recorded_at: 1, created_at: 1, run_seq: 1, _id: 1 },
} as const;

/**
 * Numbers the events of each organization from 1, without gaps, in the order in which they were stored. Events are stored
 * without a number, because otherwise concurrent transactions would have to wait for each other, or a higher number could
 * become visible before a lower one. Only one process numbers the events of an organization at a time: it leases the
 * organization's shard, and each transaction touches the lease, so a process that was paused past its lease numbers
 * nothing.
 */
export function createEventSequencer(options: {
  db: Db;
  client: MongoClient;
  leases: Pick<Leases, "held" | "touch" | "settling">;
}) {
  const { db, client, leases } = options;
  const { events, eventPositions } = collections(db);

  async function unnumberedOrganizations(): Promise<string[]> {
    const found = await events
      .aggregate<{ _id: string }>(
        [{ $match: { organization_id: { $gt: "" }, ...UNNUMBERED.filter } }, { $group: { _id: "$organization_id" } }],
        { hint: UNNUMBERED.name },
      )
      .toArray();
    return found.map(({ _id }) => _id);
  }

  /** Numbers at most one batch of events of these organizations of the shard. Returns how many. */
  function numberSome(shard: number, organizations: readonly string[]): Promise<number> {
    const number = async (session: ClientSession) => {
      if (!(await leases.touch(session, shard))) return 0;
      const found = await events
        .find({ organization_id: { $in: organizations }, ...UNNUMBERED.filter }, { session })
        .project<Pick<EventDocument, "_id" | "organization_id">>({ organization_id: 1 })
        .sort(UNNUMBERED.order)
        .limit(BATCH)
        .toArray();
      for (const [organization_id, some] of Map.groupBy(found, (event) => event.organization_id)) {
        const counted = await eventPositions.findOneAndUpdate(
          { _id: organization_id },
          { $inc: { last: some.length } },
          { session, upsert: true, returnDocument: "after" },
        );
        const first = counted!.last - some.length + 1;
        await events.bulkWrite(
          some.map(({ _id }, index) => ({
            updateOne: { filter: { _id, organization_id }, update: { $set: { position: first + index } } },
          })),
          { session },
        );
      }
      return found.length;
    };
    // No retry while another transaction holds the events, so that other shards do not wait. The next run finds them.
    return inTransaction(client, number, { retry: false }).catch(ifUnavailable(0));
  }

  return {
    /** Assigns a position to every committed event of the held shards. Errors: those of the database; may be retried. */
    async run(): Promise<void> {
      const held = new Set(leases.held());
      const own = (await unnumberedOrganizations()).filter((organization) => held.has(shardOf(organization)));
      for (const [shard, organizations] of Map.groupBy(own, shardOf)) {
        let numbered: number;
        do {
          numbered = await leases.settling(numberSome(shard, organizations));
        } while (numbered === BATCH);
      }
    },
  };
}

/** Numbers events until stopped. The replicas of the service share the organizations. */
export function runEventSequencer(options: { db: Db; client: MongoClient; logger: Logger }): LeasedWork {
  const { db, client, logger } = options;
  const leases = createLeases({ db, name: "event_sequencer" });
  return runLeasedWork({ leases, pollMs: POLL_MS, work: createEventSequencer({ db, client, leases }).run, logger });
}
