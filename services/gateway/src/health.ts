import { setTimeout as delay } from "node:timers/promises";
import { GRACE_MS } from "./auth/key-check.ts";
import type { KeyReplica } from "./auth/key-replica.ts";

/** A service without a connection for so long is out of reach; a shorter gap is one being renewed. */
const DISCONNECTED_MS = 5_000;
const LOOK_EVERY_MS = 250;

export interface HealthOptions {
  readonly replica: Pick<KeyReplica, "ageMs">;
  /** The clients of the services that calls are answered with. */
  readonly clients: readonly { isConnected(): boolean }[];
  /** Milliseconds on a clock that never goes back. */
  readonly clock: () => number;
}

export interface Health {
  /** Can keys be checked, and is every service connected? Costs nothing: connections are looked at in between. */
  healthy(): boolean;
  /** Waits until it is healthy for the first time, or for `limitMs`, or until `stopping` is aborted. */
  warm(limitMs: number, stopping: AbortSignal): Promise<void>;
  stop(): void;
}

export function watchHealth({ replica, clients, clock }: HealthOptions): Health {
  const connectedAt = clients.map(() => Number.NEGATIVE_INFINITY);
  const look = () => {
    for (const [index, client] of clients.entries()) if (client.isConnected()) connectedAt[index] = clock();
  };
  look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  const healthy = () => replica.ageMs() <= GRACE_MS && connectedAt.every((at) => clock() - at <= DISCONNECTED_MS);
  return {
    healthy,
    async warm(limitMs, stopping) {
      const until = clock() + limitMs;
      while (!healthy() && !stopping.aborted && clock() < until) {
        await delay(LOOK_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined);
      }
    },
    stop: () => clearInterval(timer),
  };
}
