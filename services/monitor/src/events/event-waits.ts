import { randomUUID } from "node:crypto";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { superviseLoop } from "@vvs/retry";
import type { Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import { collections } from "../store.ts";

/** Maximum number of calls of one organization that wait at the same time, over all replicas. */
export const MAX_WAITING_CALLS = 10;
/** How long after its wait the place of a crashed process becomes free, in milliseconds. */
const PLACE_MARGIN_MS = 5_000;
/** When a refused call should try again, in seconds. */
const RETRY_SECONDS = 5;

/** Lets calls wait for the next event of an organization. One read every `pollMs` serves all waiting calls of the process. */
export function createEventWaits(options: { db: Db; pollMs: number; logger: Logger }) {
  const { pollMs, logger } = options;
  const { eventPositions, eventWaits } = collections(options.db);
  const waiting = new Map<string, Set<{ position: number; end: () => void }>>();
  let isPolling = false;

  async function endCallsWithEvents(): Promise<void> {
    for (const { _id, last } of await eventPositions.find({ _id: { $in: [...waiting.keys()] } }).toArray()) {
      for (const call of waiting.get(_id) ?? []) if (last > call.position) call.end();
    }
  }

  /** Polls until no call waits. While MongoDB fails, calls end by their time limit, and their next read reports the error. */
  function startPolling(): void {
    if (isPolling) return;
    isPolling = true;
    const idle = new AbortController();
    superviseLoop({
      async round() {
        if (waiting.size > 0) await endCallsWithEvents();
        if (waiting.size === 0) {
          isPolling = false;
          idle.abort();
        }
        return pollMs;
      },
      failure: "looking for new events fails; retrying",
      recovery: "looking for new events succeeds again",
      backoff: { firstMs: pollMs, longestMs: pollMs },
      stopping: idle.signal,
      logger,
    });
  }

  function nextAfter(organizationId: string, position: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal.aborted) return Promise.resolve();
    const call = { position, end: () => resolve() };
    const all = waiting.get(organizationId) ?? new Set();
    waiting.set(organizationId, all.add(call));
    signal.addEventListener("abort", call.end, { once: true });
    startPolling();
    return promise.finally(() => {
      signal.removeEventListener("abort", call.end);
      all.delete(call);
      if (all.size === 0) waiting.delete(organizationId);
    });
  }

  /** Takes one of the organization's places by one conditional write, using the database's clock. Errors: rate_limited. */
  async function takePlace(organizationId: string, id: string, ms: number): Promise<void> {
    const until = { $dateAdd: { startDate: "$$NOW", unit: "millisecond", amount: ms + PLACE_MARGIN_MS } };
    const inUse = { $filter: { input: { $ifNull: ["$places", []] }, cond: { $gt: ["$$this.until", "$$NOW"] } } };
    const hasRoom = { $lt: [{ $size: "$places" }, MAX_WAITING_CALLS] };
    const added = { $concatArrays: ["$places", [{ id, until }]] };
    const after = await eventWaits.findOneAndUpdate(
      { _id: organizationId },
      [{ $set: { places: inUse } }, { $set: { places: { $cond: [hasRoom, added, "$places"] } } }],
      { upsert: true, returnDocument: "after" },
    );
    if (after!.places.some((place) => place.id === id)) return;
    throw new ServiceError("rate_limited", {
      message: `${MAX_WAITING_CALLS} requests of your organization are already waiting for events. Wait until one of them ends, or send wait=0.`,
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  return {
    /**
     * Resolves when there is an event after this position, after `ms` milliseconds, or when the signal is aborted. Errors:
     * rate_limited if the maximum number of calls of the organization are already waiting.
     */
    async untilAfter(
      { organizationId }: Tenant,
      position: number,
      { ms, signal }: { ms: number; signal: AbortSignal },
    ): Promise<void> {
      const id = randomUUID();
      await takePlace(organizationId, id, ms);
      try {
        await nextAfter(organizationId, position, AbortSignal.any([signal, AbortSignal.timeout(ms)]));
      } finally {
        await eventWaits
          .updateOne({ _id: organizationId }, { $pull: { places: { id } } })
          .catch((err: unknown) =>
            logger.warn({ err }, "freeing the place of a waiting call fails; it becomes free when its time is up"),
          );
      }
    },
  };
}
