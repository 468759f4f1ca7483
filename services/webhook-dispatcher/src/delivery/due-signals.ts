import type { EndpointIdentity } from "../endpoints/endpoint.ts";

/** What the due poller should look at next. Everything that puts work into the store reports it here. */
export interface DueSignals {
  /** Wakes the due poller: a delivery may be due, or an endpoint may take more. */
  wake(): void;
  /** Registers what `wake` calls. */
  onWake(listener: () => void): void;
  /** Notes that deliveries are held for this endpoint; it is looked at within the poller's next rounds. */
  noteHeld(identity: EndpointIdentity): void;
  /** Notes that no delivery is held for this endpoint any longer. */
  noteNoneHeld(identity: EndpointIdentity): void;
  /** Returns up to `limit` endpoints with held deliveries, and moves them to the end of the list. */
  nextHeld(limit: number): EndpointIdentity[];
  /** Number of endpoints with held deliveries. */
  readonly heldCount: number;
}

export function createDueSignals(): DueSignals {
  // A map keeps the order of insertion: the first endpoint is the one that was looked at longest ago.
  const held = new Map<string, EndpointIdentity>();
  const listeners: (() => void)[] = [];
  return {
    wake() {
      for (const listener of listeners) listener();
    },
    onWake: (listener) => void listeners.push(listener),
    noteHeld(identity) {
      if (!held.has(identity._id)) held.set(identity._id, identity);
    },
    noteNoneHeld: ({ _id }) => void held.delete(_id),
    nextHeld(limit) {
      const next = [...held.values()].slice(0, limit);
      for (const identity of next) {
        held.delete(identity._id);
        held.set(identity._id, identity);
      }
      return next;
    },
    get heldCount() {
      return held.size;
    },
  };
}
