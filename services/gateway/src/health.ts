import { setTimeout as delay } from "node:timers/promises";
import { GRACE_MS } from "./auth/key-check.ts";
import type { KeyReplica } from "./auth/key-replica.ts";

/**
 * Maximum time without a positive health answer from a service, in milliseconds. A renewed connection or one failing
 * replica is not an outage. A service reports a lost database within 4 s.
 */
const SILENT_MS = 4_000;
const ASK_EVERY_MS = 500;

/** Polls the services in the background, so that asking for the health costs nothing. `clock` returns milliseconds and never goes back. */
export function watchHealth(options: {
  replica: Pick<KeyReplica, "ageMs">;
  /** Clients of the services that answer calls. Each health check may reach another replica. */
  clients: readonly { isServing(): Promise<boolean> }[];
  clock: () => number;
  /** Pause between two questions, in milliseconds. */
  askEveryMs?: number;
}) {
  const { replica, clients, clock, askEveryMs = ASK_EVERY_MS } = options;
  const ending = new AbortController();
  const servingAt = clients.map(() => Number.NEGATIVE_INFINITY);

  async function watch(client: (typeof clients)[number], index: number): Promise<void> {
    while (!ending.signal.aborted) {
      const askedAt = clock();
      if (await client.isServing()) servingAt[index] = askedAt;
      await delay(askEveryMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
    }
  }

  for (const [index, client] of clients.entries()) void watch(client, index);
  const healthy = () => replica.ageMs() <= GRACE_MS && servingAt.every((at) => clock() - at <= SILENT_MS);
  return {
    /** Returns whether keys can be checked and every service can serve. */
    healthy,
    /** Waits until everything is healthy, for at most `limitMs` milliseconds, or until `stopping` is aborted. */
    async warm(limitMs: number, stopping: AbortSignal): Promise<void> {
      const until = clock() + limitMs;
      while (!healthy() && !stopping.aborted && clock() < until) {
        await delay(askEveryMs / 2, undefined, { signal: stopping }).catch(() => undefined);
      }
    },
    stop: () => ending.abort(),
  };
}
