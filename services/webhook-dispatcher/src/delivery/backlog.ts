import { pause } from "@vvs/retry";
import type { Db } from "mongodb";
import type { Endpoint } from "../endpoints/endpoint.ts";
import type { Backlog } from "../metrics.ts";
import type { Delivery } from "./delivery.ts";
import { LONGEST_HOLD_MS } from "./hold.ts";

/** Pause between counts, in milliseconds. */
const COUNT_EVERY_MS = 15_000;
/** Deliveries and endpoints of each kind are counted up to this number. */
const COUNT_LIMIT = 50_000;
const FLAGGED_AFTER_MS = 24 * 60 * 60 * 1_000;

/** Counts pending deliveries and failing endpoints for metrics, every 15 s. `latest` is undefined after a failed count. */
export function watchBacklog(options: { db: Db; stopping: AbortSignal; now: () => Date }): {
  latest(): Backlog | undefined;
} {
  const { db, stopping, now } = options;
  let latest: Backlog | undefined;

  async function run(): Promise<void> {
    while (!stopping.aborted) {
      latest = await countBacklog(db, now()).catch(() => undefined);
      await pause(COUNT_EVERY_MS, stopping);
    }
  }
  void run();
  return { latest: () => latest };
}

/** Returns the pending deliveries by reason, when the oldest of them was due, and the endpoints that fail. */
async function countBacklog(db: Db, now: Date): Promise<Backlog> {
  const deliveries = db.collection<Delivery>("deliveries");
  const endpoints = db.collection<Endpoint>("endpoints");
  const limit = COUNT_LIMIT;
  const pending = { status: "pending" } as const;
  const [due, scheduled, held, blocked, open, flagged, gone, oldestDue, oldestHeld] = await Promise.all([
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
    pending: { due, held, scheduled: Math.max(0, scheduled - held), in_order: blocked },
    oldestDueAt: times.length > 0 ? new Date(Math.min(...times)) : undefined,
    endpoints: { open, flagged: flagged + gone },
  };
}
