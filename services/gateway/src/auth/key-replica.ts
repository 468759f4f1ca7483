import type { Logger } from "@vvs/logging";
import type { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { backoffMs, pause } from "@vvs/retry";
import type { Client } from "@vvs/rpc";
import { type ApiKey, apiKeyOf, hashName } from "./api-key.ts";

/** Maximum time without a message, in milliseconds. Account sends one each second; after this the watch is opened again. */
const SILENCE_MS = 5_000;
const RECONNECT = { firstMs: 100, longestMs: 1_000 };

/** A copy of all API key records, which account updates as they change. */
export interface KeyReplica {
  find(hash: Uint8Array): ApiKey | undefined;
  /** Milliseconds since account last reported that no change was pending; Infinity before the first report. */
  ageMs(): number;
}

/** Starts the watch and reopens it whenever it breaks. The old records stay in use until a new snapshot is complete. */
export function startKeyReplica(options: {
  account: Pick<Client<typeof ApiKeyService>, "watchApiKeys">;
  logger: Logger;
  /** Milliseconds on a clock that never goes back. */
  clock: () => number;
  /** Ends the watch. */
  stopping: AbortSignal;
}): KeyReplica {
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
          logger.info({ keys: records.size }, "API key replica complete");
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
      if (failures === 1) logger.warn({ err: error }, "watching API keys fails; retrying");
      await pause(backoffMs(failures, RECONNECT), stopping);
    }
  }

  void watch();
  return { find: (hash) => records.get(hashName(hash)), ageMs: () => clock() - currentAt };
}
