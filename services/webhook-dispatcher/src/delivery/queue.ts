import type { UrlParts } from "../attempt/post.ts";
import type { EndpointIdentity } from "../endpoints/endpoint.ts";
import type { Delivery } from "../model/delivery.ts";
import { createFairRing } from "./fair-ring.ts";

const priorities = ["urgent", "first", "retry"] as const;
/** `urgent` comes first: attempts that may no longer be held, probes and tests. First attempts go before retries. */
export type Priority = (typeof priorities)[number];

/** Every eighth attempt is a retry, if there is one, however many first attempts wait. */
const RETRY_EVERY = 8;
/** Endpoints that try again per freed slot: several, as some may belong to an organization that has its share. */
const REVIVED_PER_SLOT = 4;
/** Maximum number of endpoints kept; beyond it, those with nothing to do are forgotten. */
const MAX_TARGETS = 20_000;

/** An endpoint as this replica sends to it. */
export interface Target extends EndpointIdentity {
  /** Read from the URL once: each getter of a URL makes a new string. */
  readonly parsedUrl: UrlParts;
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

export type Queue = ReturnType<typeof createQueue>;

/** Leased deliveries. Organizations take turns, and so do the endpoints of one; each endpoint has its own limit. */
export function createQueue(options: {
  /** Returns whether there is a slot for an attempt to this endpoint. */
  hasSlot: (target: Target) => boolean;
}) {
  const targets = new Map<string, Target>();
  const ring = () => createFairRing<Target>(({ organization_id }) => organization_id);
  const rings = { urgent: ring(), first: ring(), retry: ring() };
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
    for (const target of [...starved].slice(0, count)) {
      starved.delete(target);
      ready(target);
    }
  }

  const queuedFor = ({ waiting }: Target) => waiting.urgent.length + waiting.first.length + waiting.retry.length;

  function forgetIdle(): void {
    for (const [id, target] of targets) if (target.inFlight === 0 && queuedFor(target) === 0) targets.delete(id);
  }

  return {
    /** Returns an endpoint, as this replica knows it or a new one. */
    target(identity: EndpointIdentity): Target {
      let target = targets.get(identity._id);
      if (!target) {
        if (targets.size >= MAX_TARGETS) forgetIdle();
        const { _id, organization_id, url } = identity;
        const waiting = { urgent: [], first: [], retry: [] };
        // One attempt at a time until it has answered: it may turn out to hang.
        const { origin, hostname, pathname, search } = new URL(url);
        const parsedUrl = { origin, hostname, pathname, search };
        target = { _id, organization_id, url, parsedUrl, limit: 1, inFlight: 0, slow: 0, waiting };
        targets.set(_id, target);
      }
      return target;
    },

    add(entry: Entry): void {
      entry.target.waiting[entry.priority].push(entry);
      rings[entry.priority].add(entry.target);
      size++;
    },

    /** Removes and returns the next delivery that may be attempted. */
    next(): Entry | undefined {
      const retriesFirst = ++turn % RETRY_EVERY === 0;
      const [second, third] = retriesFirst ? (["retry", "first"] as const) : (["first", "retry"] as const);
      return nextOf("urgent") ?? nextOf(second) ?? nextOf(third);
    },

    /** Notes that an attempt has ended: its endpoint, or some that found no slot, may have another. */
    freed(target: Target): void {
      ready(target);
      revive(REVIVED_PER_SLOT);
    },

    /** Lets all endpoints that found no slot try again. */
    reviveAll: () => revive(starved.size),

    /** Removes and returns the deliveries that fit. */
    removeIf(fits: (entry: Entry) => boolean): Entry[] {
      const removed: Entry[] = [];
      for (const { waiting } of targets.values()) {
        for (const priority of priorities) {
          const { yes = [], no = [] } = Object.groupBy(waiting[priority], (entry) => (fits(entry) ? "yes" : "no"));
          if (yes.length > 0) waiting[priority].splice(0, Number.POSITIVE_INFINITY, ...no);
          removed.push(...yes);
        }
      }
      size -= removed.length;
      return removed;
    },

    queuedFor,

    /** Returns the number of queued deliveries. */
    size: () => size,
  };
}
