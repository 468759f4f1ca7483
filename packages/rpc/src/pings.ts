import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@vvs/logging";

/** Calls a dependency that the server needs, such as its database. Errors: no answer, or the signal was aborted. */
export type Ping = (signal: AbortSignal) => Promise<unknown>;

export interface Pings {
  /** Returns whether there was an answer within the last three seconds. */
  recent(): boolean;
  stop(): void;
}

const EVERY_MS = 1_000;
const LIMIT_MS = 2_000;
/** One late answer on a busy machine does not count as an outage. */
const RECENT_MS = 3_000;

/**
 * Pings once a second, and logs when the answers stop and when they are back. Starts as if there had just been an
 * answer.
 */
export function startPings(ping: Ping, logger: Logger): Pings {
  const stopping = new AbortController();
  const { signal } = stopping;
  let answeredAt = performance.now();
  let failing = false;
  const recent = () => performance.now() - answeredAt <= RECENT_MS;

  async function pingOnce(): Promise<void> {
    try {
      await ping(AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]));
      answeredAt = performance.now();
      if (failing) logger.info("the dependency answers pings again");
      failing = false;
    } catch (error) {
      if (failing || signal.aborted || recent()) return;
      failing = true;
      logger.error({ err: error }, "the dependency does not answer pings; this server reports that it can't serve");
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await pingOnce();
      await delay(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  void run();
  return { recent, stop: () => stopping.abort() };
}
