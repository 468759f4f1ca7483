import type { EndpointBook } from "./endpoint-book.ts";
import type { Pool } from "./pools.ts";
import type { Target } from "./queue.ts";

/** An attempt that takes longer counts as slow. */
const SLOW_MS = 1_000;
/** Of the slots for fast attempts, for endpoints that never answered; the lesser one while the others are all taken. */
const UNKNOWN_SHARE = 1 / 2;
const UNKNOWN_SHARE_WHILE_FULL = 1 / 8;

/** A slot that is taken. */
export interface Slot {
  readonly target: Target;
  readonly takenAt: number;
  pool: Pool;
  isSlow: boolean;
}

/** The slots of attempts: those expected to be over soon, and those that are slow or may be. */
export interface Slots {
  /** Is there one for an attempt to it? */
  hasOne(target: Target): boolean;
  take(target: Target): Slot;
  free(slot: Slot): void;
  /** Attempts that have taken long by now hold a slot for slow ones, whether there is one or not. */
  markSlow(): void;
  /** May its attempts be slow? They are, or it fails. */
  isSuspect(target: Target): boolean;
  /** It never answered. */
  isUnknown(target: Target): boolean;
}

export function createSlots(options: {
  pools: { readonly fast: Pool; readonly slow: Pool };
  book: Pick<EndpointBook, "get">;
}): Slots {
  const { book } = options;
  const { fast, slow } = options.pools;
  // In the order in which they were taken.
  const taken = new Set<Slot>();

  function isSuspect(target: Target): boolean {
    const { circuit, consecutive_failures } = book.get(target);
    return target.slow > 0 || consecutive_failures > 0 || circuit.state !== "closed";
  }

  const isUnknown = (target: Target) => book.get(target).last_success_at === null;

  /** Those nobody knows yet get a part of the fast slots: they may all turn out to hang. */
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
