import { pause } from "@vvs/retry";
import type { Db } from "mongodb";
import type { Endpoint } from "./endpoints/endpoint.ts";
import type { Delivery } from "./model/delivery.ts";
import { LONGEST_HOLD_MS } from "./model/retry-schedule.ts";

/** Pause between counts, in milliseconds. */
const COUNT_EVERY_MS = 15_000;
/** Deliveries and endpoints of each kind are counted up to this number. */
const COUNT_LIMIT = 50_000;
const FLAGGED_AFTER_MS = 24 * 60 * 60 * 1_000;

/** Counts every 15 s for metrics. Returns a function that returns the last count; undefined if that failed. */
export function watchBacklog(options: { db: Db; stopping: AbortSignal; now: () => Date }): () => Backlog | undefined {
  const { db, stopping, now } = options;
  let latest: Backlog | undefined;

  async function run(): Promise<void> {
    while (!stopping.aborted) {
      latest = await countBacklog(db, now()).catch(() => undefined);
      await pause(COUNT_EVERY_MS, stopping);
    }
  }
  void run();
  return () => latest;
}

/**
 * Returns the pending deliveries by reason (a leased one counts as scheduled for the end of its lease), when the oldest due
 * one was due, and the endpoints by how they fail.
 */
async function countBacklog(db: Db, now: Date) {
  const deliveries = db.collection<Delivery>("deliveries");
  const endpoints = db.collection<Endpoint>("endpoints");
  const limit = COUNT_LIMIT;
  const dueAt = (next_attempt_at: { $lte: Date } | { $gt: Date } | null) => ({
    status: "pending" as const,
    next_attempt_at,
  });
  const dayAgo = new Date(now.getTime() - FLAGGED_AFTER_MS);
  const [due, scheduled, in_order, held, open, flagged, gone, oldestDue, oldestHeld] = await Promise.all([
    deliveries.countDocuments(dueAt({ $lte: now }), { limit, hint: "due" }),
    deliveries.countDocuments(dueAt({ $gt: now }), { limit, hint: "due" }),
    deliveries.countDocuments(dueAt(null), { limit, hint: "due" }),
    deliveries.countDocuments({ held: true }, { limit, hint: "held" }),
    endpoints.countDocuments({ "circuit.state": "open" }, { limit }),
    endpoints.countDocuments({ failing_since: { $lte: dayAgo } }, { limit }),
    endpoints.countDocuments({ gone_at: { $ne: null }, failing_since: { $gt: dayAgo } }, { limit }),
    deliveries.findOne(dueAt({ $lte: now }), { sort: { next_attempt_at: 1 } }),
    deliveries.findOne({ held: true }, { sort: { next_attempt_at: 1 }, hint: "held" }),
  ]);
  const oldest = Math.min(
    oldestDue?.due_at.getTime() ?? Number.POSITIVE_INFINITY,
    (oldestHeld?.next_attempt_at?.getTime() ?? Number.POSITIVE_INFINITY) - LONGEST_HOLD_MS,
  );
  return {
    pending: { due, held, scheduled: Math.max(0, scheduled - held), in_order },
    oldestDueAt: Number.isFinite(oldest) ? new Date(oldest) : undefined,
    endpoints: { open, flagged: flagged + gone },
  };
}

export type Backlog = Awaited<ReturnType<typeof countBacklog>>;
