import type { UrlParts } from "../attempt/post.ts";
import type { PoolLimits } from "../config.ts";
import type { EndpointIdentity } from "../endpoints/endpoint.ts";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { Target } from "./queue.ts";

/** An attempt that takes longer than this counts as slow. */
const SLOW_MS = 1_000;
/** Share of the fast slots for endpoints that never answered; the smaller one applies while the slow slots are full. */
const UNKNOWN_SHARE = 1 / 2;
const UNKNOWN_SHARE_WHILE_FULL = 1 / 8;

type Pool = ReturnType<typeof createPool>;

/** A slot in use. */
export interface Slot {
  readonly target: Target;
  readonly takenAt: number;
  pool: Pool;
  isSlow: boolean;
}

export type Slots = ReturnType<typeof createSlots>;

/**
 * The slots of attempts: fast ones, expected to end soon, and slow ones. One host gets a limited number of all, however many
 * organizations send to it, so that they can neither flood it together nor use up the slots with one slow host.
 */
export function createSlots(options: {
  pools: { readonly fast: PoolLimits; readonly slow: PoolLimits; readonly perHost: PoolLimits };
  endpoints: Pick<EndpointCache, "get">;
}) {
  const { endpoints } = options;
  const [fast, slow] = [createPool(options.pools.fast), createPool(options.pools.slow)];
  /** Hosts with attempts in flight. */
  const hosts = new Map<string, Pool>();
  // A set keeps the order of insertion: the longest in use comes first.
  const taken = new Set<Slot>();

  /** Returns whether the endpoint fails, or an attempt takes long. Its attempts may be slow then. */
  function isSuspect(target: Target): boolean {
    const { circuit, consecutive_failures } = endpoints.get(target);
    return target.slow > 0 || consecutive_failures > 0 || circuit.state !== "closed";
  }

  /** Returns whether the endpoint has never answered with success. */
  const isUnknown = (target: Target) => endpoints.get(target).last_success_at === null;

  /** Endpoints that never answered get only a part of the fast slots: they may all turn out to hang. */
  function poolFor(target: Target): Pool {
    if (isSuspect(target)) return slow;
    if (!isUnknown(target)) return fast;
    const share = slow.taken() < slow.slots ? UNKNOWN_SHARE : UNKNOWN_SHARE_WHILE_FULL;
    return fast.taken() < fast.slots * share ? fast : slow;
  }

  /** Returns whether a host may have another attempt of an organization. */
  const hostHasRoom = ({ hostname }: Pick<UrlParts, "hostname">, organizationId: string) =>
    hosts.get(hostname)?.hasRoom(organizationId) ?? true;

  function hostOf({ parsedUrl: { hostname } }: Target): Pool {
    const host = hosts.get(hostname) ?? createPool(options.pools.perHost);
    hosts.set(hostname, host);
    return host;
  }

  return {
    isSuspect,
    isUnknown,
    hostHasRoom,
    /** Returns whether there is a slot for an attempt to this endpoint. */
    hasOne: (target: Target) =>
      poolFor(target).hasRoom(target.organization_id) && hostHasRoom(target.parsedUrl, target.organization_id),
    /** Returns whether there is a slot for an attempt that may no longer be held. */
    hasSlowOne: ({ organization_id, url }: EndpointIdentity) =>
      slow.hasRoom(organization_id) && hostHasRoom(new URL(url), organization_id),
    /** Returns the number of attempts in flight. */
    inFlight: () => ({ fast: fast.taken(), slow: slow.taken() }),

    take(target: Target): Slot {
      const slot: Slot = { target, takenAt: performance.now(), pool: poolFor(target), isSlow: false };
      slot.pool.take(target.organization_id);
      hostOf(target).take(target.organization_id);
      target.inFlight++;
      taken.add(slot);
      return slot;
    },

    free(slot: Slot): void {
      const { target } = slot;
      taken.delete(slot);
      slot.pool.free(target.organization_id);
      const host = hostOf(target);
      host.free(target.organization_id);
      if (host.taken() === 0) hosts.delete(target.parsedUrl.hostname);
      target.inFlight--;
      if (slot.isSlow) target.slow--;
    },

    /** Moves attempts that have taken long by now to the slow slots, even if those are full. */
    markSlow(): void {
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
  };
}

/** A number of slots, of which each organization can hold only a part. More than all can be taken: see `markSlow`. */
function createPool({ slots, slotsPerOrganization }: PoolLimits) {
  const byOrganization = new Map<string, number>();
  const takenBy = (organizationId: string) => byOrganization.get(organizationId) ?? 0;
  let taken = 0;
  return {
    slots,
    taken: () => taken,
    hasRoom: (organizationId: string) => taken < slots && takenBy(organizationId) < slotsPerOrganization,
    take(organizationId: string): void {
      taken++;
      byOrganization.set(organizationId, takenBy(organizationId) + 1);
    },
    free(organizationId: string): void {
      taken--;
      const left = takenBy(organizationId) - 1;
      if (left > 0) byOrganization.set(organizationId, left);
      else byOrganization.delete(organizationId);
    },
  };
}
