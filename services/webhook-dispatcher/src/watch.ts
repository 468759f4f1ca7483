import { setTimeout as wait } from "node:timers/promises";
import { createBatcher } from "@vvs/batching";
import type { Logger } from "@vvs/logging";
import type { Claims } from "./claims.ts";
import type { EndpointBook } from "./endpoint-book.ts";
import type { Lanes } from "./lanes.ts";
import type { DeliveryStore, LaneHead } from "./store.ts";

/** How often is looked for what a replica left behind that died, or gave up. */
const LOOK_MS = 2_000;
/** A look may take this share of the time at most. */
const SHARE = 0.05;

export interface WatchOptions {
  readonly store: Pick<DeliveryStore, "laneHeads" | "unblock" | "heldEndpoints">;
  readonly lanes: Pick<Lanes<unknown>, "noteNoneElsewhere">;
  readonly book: Pick<EndpointBook, "load">;
  readonly claims: Pick<Claims, "nudge" | "noteHeld">;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Sees to it that nothing waits in the store for somebody who is gone. */
export interface Watch {
  /** A monitor's first attempts in hand have ended: the next one in the store, if any, is the first now. */
  laneEnded(monitorId: string): void;
  ended(): Promise<void>;
}

export function runWatch(options: WatchOptions): Watch {
  const { store, lanes, claims, logger, now, stopping } = options;

  async function unblock(heads: readonly LaneHead[]): Promise<void> {
    const blocked = heads.filter(({ next_attempt_at }) => next_attempt_at === null);
    if (blocked.length === 0) return;
    await store.unblock(
      blocked.map(({ delivery_id }) => delivery_id),
      now(),
    );
    claims.nudge();
  }

  const endLane = createBatcher<string, void>({
    async run(monitorIds) {
      const heads = await store.laneHeads(monitorIds);
      const owed = new Set(heads.map(({ _id }) => _id));
      for (const id of monitorIds) if (!owed.has(id)) lanes.noteNoneElsewhere(id);
      await unblock(heads);
      return [];
    },
    maxSize: 500,
    atOnce: 1,
    failsAll: () => true,
  });

  async function look(): Promise<void> {
    await unblock(await store.laneHeads());
    const held = await store.heldEndpoints();
    await options.book.load(held);
    for (const { _id, organization_id, url } of held) claims.noteHeld({ _id, organization_id, url });
  }

  async function work(): Promise<void> {
    let troubled = false;
    while (!stopping.aborted) {
      const startedAt = performance.now();
      try {
        await look();
        troubled = false;
      } catch (err) {
        if (!troubled) logger.error({ err }, "what waits in the store can't be looked at; trying until it can");
        troubled = true;
      }
      const pauseMs = Math.max(LOOK_MS, (performance.now() - startedAt) / SHARE);
      await wait(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  const working = work();
  return {
    // What fails here is found by the next look.
    laneEnded: (monitorId) => void endLane(monitorId).catch(() => undefined),
    ended: () => working,
  };
}
