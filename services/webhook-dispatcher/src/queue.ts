import { FIRST_LIMIT } from "./concurrency.ts";
import type { Delivery } from "./delivery.ts";
import type { EndpointIdentity } from "./endpoint-book.ts";
import { createFairRing, type FairRing } from "./fair-ring.ts";

/** First attempts go ahead of retries; urgent is what nothing may hold back any more, probes and tests among it. */
export type Kind = "urgent" | "first" | "retry";

/** One turn in so many is a retry's, however many first attempts there are. */
const RETRY_EVERY = 8;
/** One slot that comes free is for one of them; the others may be of an organization that has its share. */
const REVIVED_BY_SLOT = 4;
/** Endpoints with nothing to do are forgotten beyond so many. */
const MAX_IDLE_TARGETS = 20_000;

/** An endpoint as this replica sends to it. */
export interface Target extends EndpointIdentity {
  readonly parsedUrl: URL;
  /** Attempts at once, at most. */
  limit: number;
  inFlight: number;
  /** Of those in flight, the ones that take long. */
  slow: number;
  readonly waiting: Readonly<Record<Kind, Entry[]>>;
}

/** A delivery that this replica has leased. */
export interface Entry {
  readonly delivery: Delivery;
  readonly target: Target;
  readonly kind: Kind;
  readonly probe: boolean;
}

/** Deliveries in hand. Organizations take turns, and an organization's endpoints; each endpoint has so many at once. */
export interface Queue {
  target(identity: EndpointIdentity): Target;
  add(entry: Entry): void;
  /** Whose turn it is, of those that may begin. */
  next(): Entry | undefined;
  /** An attempt to it has ended: it may have another, or some of those that found no slot. */
  freed(target: Target): void;
  /** All that found no slot may try again. */
  reviveAll(): void;
  removeIf(fits: (entry: Entry) => boolean): Entry[];
  queuedFor(target: Target): number;
  readonly size: number;
}

export function createQueue(options: {
  /** Is there a slot for an attempt to it? */
  hasSlot: (target: Target) => boolean;
  /** Of an endpoint's attempts at once. */
  limit: number;
}): Queue {
  const targets = new Map<string, Target>();
  const rings: Readonly<Record<Kind, FairRing<Target>>> = { urgent: ring(), first: ring(), retry: ring() };
  const kinds = ["urgent", "first", "retry"] as const;
  /** Those that wait for a slot of a pool, and not for one of their own. */
  const starved = new Set<Target>();
  let size = 0;
  let turn = 0;

  function nextOf(kind: Kind): Entry | undefined {
    for (let target = rings[kind].next(); target; target = rings[kind].next()) {
      const waiting = target.waiting[kind];
      if (waiting.length === 0 || (kind !== "urgent" && target.inFlight >= target.limit)) continue;
      if (!options.hasSlot(target)) {
        starved.add(target);
        continue;
      }
      if (waiting.length > 1) rings[kind].add(target);
      size--;
      return waiting.shift();
    }
    return undefined;
  }

  function ready(target: Target): void {
    for (const kind of kinds) if (target.waiting[kind].length > 0) rings[kind].add(target);
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
      const isIdle = target.inFlight === 0 && kinds.every((kind) => target.waiting[kind].length === 0);
      if (isIdle) targets.delete(id);
    }
  }

  return {
    target(identity) {
      let target = targets.get(identity._id);
      if (!target) {
        if (targets.size >= MAX_IDLE_TARGETS) forgetIdle();
        target = newTarget(identity, Math.min(FIRST_LIMIT, options.limit));
        targets.set(identity._id, target);
      }
      return target;
    },
    add(entry) {
      entry.target.waiting[entry.kind].push(entry);
      rings[entry.kind].add(entry.target);
      size++;
    },
    next() {
      const retriesFirst = ++turn % RETRY_EVERY === 0;
      const [second, third] = retriesFirst ? (["retry", "first"] as const) : (["first", "retry"] as const);
      return nextOf("urgent") ?? nextOf(second) ?? nextOf(third);
    },
    freed(target) {
      ready(target);
      revive(REVIVED_BY_SLOT);
    },
    reviveAll: () => revive(starved.size),
    removeIf(fits) {
      const removed: Entry[] = [];
      for (const target of targets.values()) {
        for (const kind of kinds) {
          const waiting = target.waiting[kind];
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
