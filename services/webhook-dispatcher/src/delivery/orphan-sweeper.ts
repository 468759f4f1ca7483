import type { Logger } from "@vvs/logging";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { DueSignals } from "./due-signals.ts";
import type { MonitorUrls } from "./monitor-urls.ts";
import type { DeliveryStore } from "./store.ts";
import type { Unblocker } from "./unblocker.ts";

/** Shortest pause between sweeps, in milliseconds. */
const SWEEP_MS = 2_000;
/** Maximum share of the time spent sweeping: where a sweep takes long, the pause after it is longer. */
const SHARE = 0.05;

/**
 * Finds deliveries that wait in the store for a replica that died or gave up: blocked ones that are the first of their
 * monitor, held ones, and those of monitors without a URL.
 */
export function runOrphanSweeper(options: {
  store: Pick<DeliveryStore, "blockedMonitors" | "heldEndpoints">;
  urls: Pick<MonitorUrls, "endRemoved">;
  unblocker: Pick<Unblocker, "unblockNext">;
  endpoints: Pick<EndpointCache, "load">;
  signals: Pick<DueSignals, "noteHeld">;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { store, urls, unblocker, endpoints, signals, stopping, logger } = options;
  return superviseLoop({
    async round() {
      const startedAt = performance.now();
      await urls.endRemoved();
      (await store.blockedMonitors()).forEach(unblocker.unblockNext);
      const held = await store.heldEndpoints();
      await endpoints.load(held);
      held.forEach(signals.noteHeld);
      return Math.max(SWEEP_MS, (performance.now() - startedAt) / SHARE);
    },
    failure: "waiting deliveries can't be swept; retrying",
    recovery: "waiting deliveries are swept again",
    backoff: { firstMs: SWEEP_MS, longestMs: 2 * SWEEP_MS },
    stopping,
    logger,
  });
}
