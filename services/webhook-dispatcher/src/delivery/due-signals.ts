import type { EndpointIdentity } from "../endpoints/endpoint.ts";

/** The first retry comes after 5 s; for later ones, which have more time to spare, the poller need not hurry. */
const NEAR_MS = 10_000;
/** Until then a near retry has been found. */
const NEAR_PAST_MS = 1_000;

export type DueSignals = ReturnType<typeof createDueSignals>;

/** What the due poller should look at next. Everything that puts work into the store reports it here. */
export function createDueSignals() {
  // A map keeps the order of insertion: the first endpoint is the one that was looked at longest ago.
  const held = new Map<string, EndpointIdentity>();
  let wakePoller: () => void = () => undefined;
  let wasWoken = false;
  let nearRetriesEndMs = 0;
  return {
    /** Wakes the due poller: a delivery may be due, or an endpoint may take more. */
    wake(): void {
      wasWoken = true;
      wakePoller();
    },

    /** Returns whether `wake` was called since the last time this was asked. */
    takeWake(): boolean {
      const was = wasWoken;
      wasWoken = false;
      return was;
    },

    /** Notes that an attempt which failed here is repeated after a time. */
    noteRetry(at: Date, now: Date): void {
      if (at.getTime() - now.getTime() < NEAR_MS) nearRetriesEndMs = Math.max(nearRetriesEndMs, at.getTime());
    },

    /** Returns whether a retry that failed here is due within seconds. */
    isRetryNear: (now: Date) => now.getTime() <= nearRetriesEndMs + NEAR_PAST_MS,

    /** Sets what wakes the due poller. */
    onWake(wake: () => void): void {
      wakePoller = wake;
    },

    /** Notes that deliveries are held for this endpoint; it is looked at within the poller's next rounds. */
    noteHeld(identity: EndpointIdentity): void {
      if (!held.has(identity._id)) held.set(identity._id, identity);
    },

    /** Notes that no delivery is held for this endpoint any longer. */
    noteNoneHeld: ({ _id }: EndpointIdentity) => void held.delete(_id),

    /** Returns up to `limit` endpoints with held deliveries, and moves them to the end of the list. */
    nextHeld(limit: number): EndpointIdentity[] {
      const next = [...held.values()].slice(0, limit);
      for (const identity of next) {
        held.delete(identity._id);
        held.set(identity._id, identity);
      }
      return next;
    },

    /** Returns the number of endpoints with held deliveries. */
    heldCount: () => held.size,
  };
}
