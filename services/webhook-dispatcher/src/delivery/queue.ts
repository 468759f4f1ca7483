import type { EndpointIdentity } from "../endpoints/endpoint.ts";
import { FIRST_LIMIT } from "./concurrency.ts";
import type { Delivery } from "./delivery.ts";
import { createFairRing, type FairRing } from "./fair-ring.ts";

/** `urgent` comes first: attempts that may no longer be held, probes and tests. First attempts go before retries. */
export type Priority = "urgent" | "first" | "retry";

/** Every eighth attempt is a retry, if there is one, however many first attempts wait. */
const RETRY_EVERY = 8;
/** Endpoints that try again per freed slot: several, as some may belong to an organization that has its share. */
const REVIVED_PER_SLOT = 4;
/** Maximum number of endpoints kept; beyond it, those with nothing to do are forgotten. */
const MAX_TARGETS = 20_000;

/** An endpoint as this replica sends to it. */
export interface Target extends EndpointIdentity {
  readonly parsedUrl: URL;
  /** Maximum number of attempts in flight. */
  limit: number;
  inFlight: number;
  /** Number of those in flight that have taken long. */
  slow: number;
  readonly waiting: Readonly<Record<Priority, Entry[]>>;
}

/** A delivery that this replica has leased. */
export interface Entry {
  readonly delivery: Delivery;
  readonly target: Target;
  readonly priority: Priority;
  readonly probe: boolean;
}

/** Leased deliveries. Organizations take turns, and so do the endpoints of one; each endpoint has its own limit. */
export interface Queue {
  target(identity: EndpointIdentity): Target;
  add(entry: Entry): void;
  /** Removes and returns the next delivery that may be attempted. */
  next(): Entry | undefined;
  /** Notes that an attempt has ended: its endpoint, or some that found no slot, may have another. */
  freed(target: Target): void;
  /** Lets all endpoints that found no slot try again. */
  reviveAll(): void;
  removeIf(fits: (entry: Entry) => boolean): Entry[];
  queuedFor(target: Target): number;
  readonly size: number;
}

export function createQueue(options: {
  /** Is there a slot for an attempt to this endpoint? */
  hasSlot: (target: Target) => boolean;
  /** Maximum number of attempts in flight to one endpoint. */
  limit: number;
}): Queue {
  const targets = new Map<string, Target>();
  const rings: Readonly<Record<Priority, FairRing<Target>>> = { urgent: ring(), first: ring(), retry: ring() };
  const priorities = ["urgent", "first", "retry"] as const;
  /** Endpoints that wait for a slot of a pool, and not for their own limit. */
  const starved = new Set<Target>();
  let size = 0;
  let turn = 0;

  function nextOf(priority: Priority): Entry | undefined {
    for (let target = rings[priority].next(); target; target = rings[priority].next()) {
      const waiting = target.waiting[priority];
      if (waiting.length === 0 || (priority !== "urgent" && target.inFlight >= target.limit)) continue;
      if (!options.hasSlot(target)) {
        starved.add(target);
        continue;
      }
      if (waiting.length > 1) rings[priority].add(target);
      size--;
      return waiting.shift();
    }
    return undefined;
  }

  function ready(target: Target): void {
    for (const priority of priorities) if (target.waiting[priority].length > 0) rings[priority].add(target);
  }

  function revive(count: number): void {
    let left = count;
    for (const target of starved) {
      if (left-- <= 0) return;
      starved.delete(target);
      ready(target);
    }
  }

  function forgetIdle(): void {
    for (const [id, target] of targets) {
      const isIdle = target.inFlight === 0 && priorities.every((priority) => target.waiting[priority].length === 0);
      if (isIdle) targets.delete(id);
    }
  }

  return {
    target(identity) {
      let target = targets.get(identity._id);
      if (!target) {
        if (targets.size >= MAX_TARGETS) forgetIdle();
        target = newTarget(identity, Math.min(FIRST_LIMIT, options.limit));
        targets.set(identity._id, target);
      }
      return target;
    },
    add(entry) {
      entry.target.waiting[entry.priority].push(entry);
      rings[entry.priority].add(entry.target);
      size++;
    },
    next() {
      const retriesFirst = ++turn % RETRY_EVERY === 0;
      const [second, third] = retriesFirst ? (["retry", "first"] as const) : (["first", "retry"] as const);
      return nextOf("urgent") ?? nextOf(second) ?? nextOf(third);
    },
    freed(target) {
      ready(target);
      revive(REVIVED_PER_SLOT);
    },
    reviveAll: () => revive(starved.size),
    removeIf(fits) {
      const removed: Entry[] = [];
      for (const target of targets.values()) {
        for (const priority of priorities) {
          const waiting = target.waiting[priority];
          if (waiting.length === 0) continue;
          const out = waiting.filter(fits);
          if (out.length === 0) continue;
          removed.push(...out);
          const kept = waiting.filter((entry) => !out.includes(entry));
          waiting.splice(0, waiting.length, ...kept);
        }
      }
      size -= removed.length;
      return removed;
    },
    queuedFor: ({ waiting }) => waiting.urgent.length + waiting.first.length + waiting.retry.length,
    get size() {
      return size;
    },
  };
}

function ring(): FairRing<Target> {
  return createFairRing(({ organization_id }) => organization_id);
}

function newTarget({ _id, organization_id, url }: EndpointIdentity, limit: number): Target {
  const waiting = { urgent: [], first: [], retry: [] };
  return { _id, organization_id, url, parsedUrl: new URL(url), limit, inFlight: 0, slow: 0, waiting };
}
