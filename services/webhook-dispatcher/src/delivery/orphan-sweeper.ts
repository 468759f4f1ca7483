import type { Logger } from "@vvs/logging";
import { superviseLoop } from "@vvs/retry";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { DueSignals } from "./due-signals.ts";
import type { MonitorUrls } from "./monitor-urls.ts";
import type { DeliveryStore } from "./store.ts";
import type { Unblocker } from "./unblocker.ts";

/** Shortest pause between sweeps, in milliseconds. */
const SWEEP_MS = 2_000;
/** Maximum share of the time spent sweeping: where a sweep takes long, the pause after it is longer. */
const SHARE = 0.05;

export interface OrphanSweeperOptions {
  readonly store: Pick<DeliveryStore, "monitorHeads" | "heldEndpoints">;
  readonly urls: Pick<MonitorUrls, "endRemoved">;
  readonly unblocker: Pick<Unblocker, "unblock">;
  readonly endpoints: Pick<EndpointCache, "load">;
  readonly signals: Pick<DueSignals, "noteHeld">;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

/**
 * Finds deliveries that wait in the store for a replica that died or gave up: blocked ones that are the first of their
 * monitor, held ones, and those of monitors without a URL. `ended` resolves when the last sweep has ended.
 */
export function runOrphanSweeper(options: OrphanSweeperOptions): { ended(): Promise<void> } {
  const { store, urls, unblocker, endpoints, signals } = options;

  async function sweep(): Promise<number> {
    const startedAt = performance.now();
    await urls.endRemoved();
    await unblocker.unblock(await store.monitorHeads());
    const held = await store.heldEndpoints();
    await endpoints.load(held);
    for (const identity of held) signals.noteHeld(identity);
    return Math.max(SWEEP_MS, (performance.now() - startedAt) / SHARE);
  }

  return superviseLoop({
    round: sweep,
    failure: "waiting deliveries can't be swept; retrying",
    recovery: "waiting deliveries are swept again",
    backoff: { firstMs: SWEEP_MS, longestMs: 2 * SWEEP_MS },
    stopping: options.stopping,
    logger: options.logger,
  });
}
