import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import type { AccountService } from "@vvs/proto/account/v1/account";
import type { Client } from "@vvs/rpc";
import { type ApiKey, apiKeyOf, hashName } from "./api-key.ts";

/** Account is heard each second: after so long a silence the connection is taken for dead and opened again. */
const SILENCE_MS = 5_000;
const RECONNECT_MS = { first: 100, longest: 1_000 };

export interface KeyReplicaOptions {
  readonly account: Pick<Client<typeof AccountService>, "watchApiKeys">;
  readonly logger: Logger;
  /** Milliseconds on a clock that never goes back. */
  readonly clock: () => number;
  /** Ends the watch. */
  readonly stopping: AbortSignal;
}

/** All key records, fed by account as they change. */
export interface KeyReplica {
  find(hash: Uint8Array): ApiKey | undefined;
  /** How long ago account said that nothing was pending; Infinity before the first time. */
  ageMs(): number;
}

/** Starts to watch and never gives up; a snapshot that is still arriving does not disturb the records there are. */
export function startKeyReplica(options: KeyReplicaOptions): KeyReplica {
  const { clock, logger, stopping } = options;
  let records = new Map<string, ApiKey>();
  let currentAt = Number.NEGATIVE_INFINITY;
  let failures = 0;

  async function watchOnce(): Promise<void> {
    const silence = new AbortController();
    const watchdog = setTimeout(() => silence.abort(), SILENCE_MS).unref();
    const signal = AbortSignal.any([stopping, silence.signal]);
    let snapshot: Map<string, ApiKey> | undefined = new Map();
    try {
      for await (const { step } of options.account.watchApiKeys({}, { signal })) {
        watchdog.refresh();
        if (step.case === "key") (snapshot ?? records).set(hashName(step.value.hash), apiKeyOf(step.value));
        if (step.case === "snapshotDone") {
          records = snapshot ?? records;
          snapshot = undefined;
          failures = 0;
          logger.info({ keys: records.size }, "the replica of API keys is complete");
        }
        if (step.case !== "key" && !snapshot) currentAt = clock();
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  async function watch(): Promise<void> {
    while (!stopping.aborted) {
      const error = await watchOnce().then(
        () => new Error("account ended the watch"),
        (thrown: unknown) => thrown,
      );
      if (stopping.aborted) return;
      failures += 1;
      if (failures === 1) logger.warn({ err: error }, "the watch of API keys broke; trying again until it is back");
      const waitMs = Math.min(RECONNECT_MS.first * 2 ** (failures - 1), RECONNECT_MS.longest);
      await delay(waitMs * (0.5 + Math.random() / 2), undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  void watch();
  return { find: (hash) => records.get(hashName(hash)), ageMs: () => clock() - currentAt };
}
