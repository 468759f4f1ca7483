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
  stop(): void;
}

export function watchHealth({ replica, clients, clock }: HealthOptions): Health {
  const connectedAt = clients.map(() => Number.NEGATIVE_INFINITY);
  const look = () => {
    for (const [index, client] of clients.entries()) if (client.isConnected()) connectedAt[index] = clock();
  };
  look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    healthy: () => replica.ageMs() <= GRACE_MS && connectedAt.every((at) => clock() - at <= DISCONNECTED_MS),
    stop: () => clearInterval(timer),
  };
}
