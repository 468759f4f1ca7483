import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { Pool } from "./pools.ts";
import type { Target } from "./queue.ts";

/** An attempt that takes longer than this counts as slow. */
const SLOW_MS = 1_000;
/** Share of the fast slots for endpoints that never answered; the smaller one applies while the slow slots are full. */
const UNKNOWN_SHARE = 1 / 2;
const UNKNOWN_SHARE_WHILE_FULL = 1 / 8;

/** A slot in use. */
export interface Slot {
  readonly target: Target;
  readonly takenAt: number;
  pool: Pool;
  isSlow: boolean;
}

/** The slots of attempts: fast ones, expected to end soon, and slow ones. */
export interface Slots {
  /** Is there a slot for an attempt to this endpoint? */
  hasOne(target: Target): boolean;
  take(target: Target): Slot;
  free(slot: Slot): void;
  /** Moves attempts that have taken long by now to the slow slots, even where those are full. */
  markSlow(): void;
  /** Does the endpoint fail, or does an attempt take long? Its attempts may be slow then. */
  isSuspect(target: Target): boolean;
  /** Has the endpoint never answered with success? */
  isUnknown(target: Target): boolean;
}

export function createSlots(options: {
  pools: { readonly fast: Pool; readonly slow: Pool };
  endpoints: Pick<EndpointCache, "get">;
}): Slots {
  const { endpoints } = options;
  const { fast, slow } = options.pools;
  // A set keeps the order of insertion: the longest in use comes first.
  const taken = new Set<Slot>();

  function isSuspect(target: Target): boolean {
    const { circuit, consecutive_failures } = endpoints.get(target);
    return target.slow > 0 || consecutive_failures > 0 || circuit.state !== "closed";
  }

  const isUnknown = (target: Target) => endpoints.get(target).last_success_at === null;

  /** Endpoints that never answered get only a part of the fast slots: they may all turn out to hang. */
  function poolFor(target: Target): Pool {
    if (isSuspect(target)) return slow;
    if (!isUnknown(target)) return fast;
    const share = slow.taken < slow.slots ? UNKNOWN_SHARE : UNKNOWN_SHARE_WHILE_FULL;
    return fast.taken < fast.slots * share ? fast : slow;
  }

  return {
    hasOne: (target) => poolFor(target).hasRoom(target.organization_id),
    take(target) {
      const slot: Slot = { target, takenAt: performance.now(), pool: poolFor(target), isSlow: false };
      slot.pool.take(target.organization_id);
      target.inFlight++;
      taken.add(slot);
      return slot;
    },
    free(slot) {
      const { target } = slot;
      taken.delete(slot);
      slot.pool.free(target.organization_id);
      target.inFlight--;
      if (slot.isSlow) target.slow--;
    },
    markSlow() {
      const before = performance.now() - SLOW_MS;
      for (const slot of taken) {
        if (slot.takenAt > before) return;
        if (slot.isSlow) continue;
        slot.isSlow = true;
        slot.target.slow++;
        slot.pool.free(slot.target.organization_id);
        slot.pool = slow;
        slow.take(slot.target.organization_id);
      }
    },
    isSuspect,
    isUnknown,
  };
}
