import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import { pause, superviseLoop } from "@vvs/retry";
import type { Leases } from "./leases.ts";

/** Pause between two rounds, so that a busy service's work is done in batches and not one by one. */
const GATHER_MS = 25;
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
  pollMs: number;
  /** Does all waiting work of the held shards. After an error it is tried again. */
  work: () => Promise<void>;
  logger: Logger;
}): LeasedWork {
  const { leases, pollMs, work } = options;
  const stopping = new AbortController();
  const logger = options.logger.child({ database: leases.db.databaseName, work: leases.name });
  const renewMs = leases.leaseMs / 3;

  const working = superviseLoop({
    async round() {
      if (leases.held().length > 0) await work();
      await pause(Math.min(GATHER_MS, pollMs), stopping.signal);
      return pollMs;
    },
    failure: "the work of leased shards can't be done; trying until it can",
    recovery: "the work of leased shards succeeds again",
    backoff: { firstMs: 200, longestMs: 10_000 },
    stopping: stopping.signal,
    logger,
  });
  const holding = superviseLoop({
    async round() {
      const before = leases.held().length;
      if ((await leases.renew()).length > before) working.nudge();
      return renewMs;
    },
    failure: "the leases of shards can't be renewed; trying until they can",
    recovery: "the leases of shards are renewed again",
    backoff: { firstMs: renewMs, longestMs: renewMs },
    stopping: stopping.signal,
    logger,
  });

  return {
    nudge: working.nudge,
    async stop() {
      leases.stop();
      stopping.abort();
      const ended = Promise.all([working.ended(), holding.ended()]);
      await Promise.race([ended, wait(STOP_MS, undefined, { ref: false })]);
      await leases
        .release()
        .catch((err: unknown) => logger.warn({ err }, "the leases of shards could not be given up; they will expire"));
    },
  };
}
