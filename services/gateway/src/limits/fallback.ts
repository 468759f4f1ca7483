import { metrics } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";

/** Pause between two attempts to reach Redis after it failed, in milliseconds. Calls are decided in memory meanwhile. */
const RETRY_MS = 1_000;

/** Decides whether a limiter uses Redis or memory. Every switch is logged and counted. */
export function createFallback(options: { limiter: string; logger: Logger; clock: () => number }) {
  const { limiter, logger, clock } = options;
  const switches = metrics.getMeter("gateway").createCounter("ratelimit_switches", {
    description:
      "Switches of a limiter between Redis and memory. Many in an hour mean that Redis or the gateway is too slow.",
  });
  let since: number | undefined;
  let lastTried = Number.NEGATIVE_INFINITY;
  return {
    /** Returns whether this call may use Redis. While Redis fails, one call a second may. */
    mayAsk(): boolean {
      if (since === undefined) return true;
      if (clock() - lastTried < RETRY_MS) return false;
      lastTried = clock();
      return true;
    },
    /** Reports that Redis did not answer a call. */
    failed(error: unknown): void {
      lastTried = clock();
      if (since !== undefined) return;
      since = clock();
      switches.add(1, { limiter, to: "memory" });
      logger.warn({ limiter, err: error }, "Redis does not answer; limits are counted in memory");
    },
    /** Reports that Redis answered a call. Returns true if it had failed before. */
    answered(): boolean {
      if (since === undefined) return false;
      const durationMs = Math.round(clock() - since);
      since = undefined;
      switches.add(1, { limiter, to: "redis" });
      logger.info({ limiter, duration_ms: durationMs }, "Redis answers again; limits are shared");
      return true;
    },
    /** Returns whether calls are currently decided in memory. */
    active: () => since !== undefined && clock() - lastTried < 2 * RETRY_MS,
  };
}
