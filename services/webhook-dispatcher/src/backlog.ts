import { setTimeout as wait } from "node:timers/promises";
import type { Db } from "mongodb";
import type { Delivery } from "./delivery.ts";
import type { Endpoint } from "./endpoint.ts";
import { LONGEST_HOLD_MS } from "./hold.ts";
import type { Backlog } from "./metrics.ts";

const LOOK_MS = 15_000;
/** Beyond so many of a kind, how many more does not matter to anybody. */
const COUNTED = 50_000;
const FLAGGED_AFTER_MS = 24 * 60 * 60 * 1_000;

/** Counts what is not done, for metrics: every few seconds, and not when they are read. */
export function watchBacklog(options: { db: Db; stopping: AbortSignal; now: () => Date }): {
  latest(): Backlog | undefined;
} {
  const { db, stopping, now } = options;
  let latest: Backlog | undefined;

  async function work(): Promise<void> {
    while (!stopping.aborted) {
      latest = await countBacklog(db, now()).catch(() => undefined);
      await wait(LOOK_MS, undefined, { signal: stopping, ref: false }).catch(() => undefined);
    }
  }
  void work();
  return { latest: () => latest };
}

/** What is pending now, by why, and since when the oldest of it is due. */
export async function countBacklog(db: Db, now: Date): Promise<Backlog> {
  const deliveries = db.collection<Delivery>("deliveries");
  const endpoints = db.collection<Endpoint>("endpoints");
  const limit = COUNTED;
  const pending = { status: "pending" } as const;
  const [due, scheduled, held, inOrder, open, flagged, gone, oldestDue, oldestHeld] = await Promise.all([
    deliveries.countDocuments({ ...pending, next_attempt_at: { $lte: now } }, { limit, hint: "due" }),
    deliveries.countDocuments({ ...pending, next_attempt_at: { $gt: now } }, { limit, hint: "due" }),
    deliveries.countDocuments({ held: true }, { limit, hint: "held" }),
    deliveries.countDocuments({ ...pending, next_attempt_at: null }, { limit, hint: "due" }),
    endpoints.countDocuments({ "circuit.state": "open" }, { limit }),
    endpoints.countDocuments({ failing_since: { $lte: new Date(now.getTime() - FLAGGED_AFTER_MS) } }, { limit }),
    endpoints.countDocuments(
      { gone_at: { $ne: null }, failing_since: { $gt: new Date(now.getTime() - FLAGGED_AFTER_MS) } },
      { limit },
    ),
    deliveries
      .find({ ...pending, next_attempt_at: { $lte: now } })
      .sort({ next_attempt_at: 1 })
      .limit(1)
      .next(),
    deliveries.find({ held: true }).sort({ next_attempt_at: 1 }).hint("held").limit(1).next(),
  ]);
  const oldest = [oldestDue?.due_at, oldestHeld && new Date(oldestHeld.next_attempt_at!.getTime() - LONGEST_HOLD_MS)];
  const times = oldest.flatMap((at) => (at ? [at.getTime()] : []));
  return {
    pending: { due, held, scheduled: Math.max(0, scheduled - held), in_order: inOrder },
    oldestDueAt: times.length > 0 ? new Date(Math.min(...times)) : undefined,
    endpoints: { open, flagged: flagged + gone },
  };
}
