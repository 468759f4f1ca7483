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
/**
 * How far most searches look back before the newest event that was found, in milliseconds. MongoDB keeps the entries of numbered
 * events in the index for five minutes and reads past them.
 */
const LATELY_MS = 2_000;
/**
 * How often all events are searched, in milliseconds. Until then an event can wait that was stored in a longer transaction, or by a
 * replica whose clock is further behind.
 */
const SEARCH_ALL_MS = 5_000;

/** The index of the events without a position, and the order in which they are numbered. */
export const UNNUMBERED = {
  name: "unnumbered_by_time",
  filter: { position: null } as unknown as Filter<EventDocument>,
  order: { recorded_at: 1, created_at: 1, run_seq: 1, _id: 1 },
} as const;

/**
 * Stores a document that is no event behind all events without a position. Without it MongoDB walks back over all that were numbered
 * in the last five minutes wherever it finds none. The migration calls it.
 */
export async function ensureEnd(db: Db): Promise<void> {
  const end = { recorded_at: new Date(8.64e15) };
  await collections(db).events.updateOne({ _id: "end" }, { $setOnInsert: end }, { upsert: true });
}

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

  let searchAllAtMs = 0;
  /** When the newest event was stored that was found; undefined before the first one. */
  let newest: Date | undefined;

  /** Returns the organizations with events without a position, and a filter for these events. */
  async function search(): Promise<{ organizations: string[]; waiting: Filter<EventDocument> }> {
    const isRecent = newest !== undefined && performance.now() < searchAllAtMs;
    if (!isRecent) searchAllAtMs = performance.now() + SEARCH_ALL_MS;
    const all: Filter<EventDocument> = { organization_id: { $gt: "" }, ...UNNUMBERED.filter };
    const from = (ms: number) => ({ ...all, recorded_at: { $gte: new Date(ms) } });
    const searched = isRecent ? from(newest!.getTime() - LATELY_MS) : all;
    const found = await events
      .aggregate<{ _id: string; oldest: Date; newest: Date | null }>(
        [
          { $match: searched },
          {
            $group: {
              _id: "$organization_id",
              oldest: { $min: { $ifNull: ["$recorded_at", new Date(0)] } },
              newest: { $max: "$recorded_at" },
            },
          },
        ],
        { hint: UNNUMBERED.name },
      )
      .toArray();
    if (found.length > 0)
      newest = new Date(Math.max(...[newest ?? 0, ...found.map((each) => each.newest)].map(Number)));
    const oldestMs = Math.min(...found.map(({ oldest }) => Number(oldest)));
    // A document of an older version, without the time, is not in a range of times.
    const waiting = oldestMs > 0 ? from(oldestMs) : all;
    return { organizations: found.map(({ _id }) => _id), waiting };
  }

  /** Numbers at most one batch of events of these organizations of the shard. Returns how many. */
  function numberSome(
    shard: number,
    { waiting, organizations }: { waiting: Filter<EventDocument>; organizations: readonly string[] },
  ): Promise<number> {
    const number = async (session: ClientSession) => {
      if (!(await leases.touch(session, shard))) return 0;
      const found = await events
        .find({ ...waiting, organization_id: { $in: organizations } }, { session, hint: UNNUMBERED.name })
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
      const { organizations: found, waiting } = await search();
      const own = found.filter((organization) => held.has(shardOf(organization)));
      for (const [shard, organizations] of Map.groupBy(own, shardOf)) {
        let numbered: number;
        do {
          numbered = await leases.settling(numberSome(shard, { waiting, organizations }));
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
