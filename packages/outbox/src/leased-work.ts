import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import { type Backoff, backoffMs, pause } from "@vvs/retry";
import type { Leases } from "./leases.ts";

/** Pause between two rounds, so that a busy service's work is done in batches and not one by one. */
const GATHER_MS = 25;
const BACKOFF: Backoff = { firstMs: 200, longestMs: 10_000 };
/** Time in which the round that runs at stop may finish. */
const STOP_MS = 10_000;

export interface LeasedWork {
  /** Starts a round soon. Call it after a commit that created work, which otherwise waits for the next poll. */
  nudge(): void;
  /** Lets the current round finish, and gives up the shards. */
  stop(): Promise<void>;
}

/**
 * Does the work of the shards that this process holds, until stopped: a round after each nudge, and one every `pollMs`.
 * After an error it tries again with backoff, for as long as it takes.
 */
export function runLeasedWork(options: {
  leases: Leases;
  leaseMs: number;
  pollMs: number;
  /** Does all waiting work of the held shards. After an error it is tried again. */
  work: () => Promise<void>;
  /** Aborted by `stop`. */
  stopping: AbortController;
  /** Its fields should name the work. */
  logger: Logger;
}): LeasedWork {
  const { leases, leaseMs, pollMs, stopping, logger } = options;
  let nudged = false;
  let wake = () => {};

  function nudge(): void {
    nudged = true;
    wake();
  }

  async function untilNudged(ms: number): Promise<void> {
    const woken = Promise.withResolvers<void>();
    wake = woken.resolve;
    const timer = setTimeout(woken.resolve, ms);
    if (!nudged) await woken.promise;
    clearTimeout(timer);
  }

  async function doWork(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      nudged = false;
      try {
        if (leases.held().length > 0) await options.work();
        if (failures > 0) logger.info("the work of leased shards succeeds again");
        failures = 0;
        await pause(Math.min(GATHER_MS, pollMs), stopping.signal);
        await untilNudged(pollMs);
      } catch (err) {
        failures++;
        if (failures === 1) logger.error({ err }, "the work of leased shards can't be done; trying until it can");
        await pause(backoffMs(failures, BACKOFF), stopping.signal);
      }
    }
  }

  async function holdShards(): Promise<void> {
    for (let failing = false; !stopping.signal.aborted; ) {
      const before = leases.held().length;
      try {
        const held = await leases.renew();
        if (held.length > before) nudge();
        failing = false;
      } catch (err) {
        if (!failing) logger.warn({ err }, "the leases of shards can't be renewed; trying until they can");
        failing = true;
      }
      await pause(leaseMs / 3, stopping.signal);
    }
  }

  const working = Promise.all([doWork(), holdShards()]);

  return {
    nudge,
    async stop() {
      stopping.abort();
      nudge();
      await Promise.race([working, wait(STOP_MS, undefined, { ref: false })]);
      await leases
        .release()
        .catch((err: unknown) => logger.warn({ err }, "the leases of shards could not be given up; they will expire"));
    },
  };
}
