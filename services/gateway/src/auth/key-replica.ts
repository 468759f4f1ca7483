import type { Logger } from "@vvs/logging";
import type { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { backoffMs, pause } from "@vvs/retry";
import type { Client } from "@vvs/rpc";
import { type ApiKey, apiKeyOf, hashName } from "../http/api-key.ts";

/** Maximum time without a message, in milliseconds. Account sends one each second; after this the watch is opened again. */
const SILENCE_MS = 5_000;
const RECONNECT = { firstMs: 100, longestMs: 1_000 };
/** After this time a watch begins with all keys again, which leaves out those that ended. */
const RESUMED_FOR_MS = 24 * 60 * 60 * 1000;

/** A copy of all API key records, which account updates as they change. */
export interface KeyReplica {
  find(hash: Uint8Array): ApiKey | undefined;
  /** Milliseconds since account last reported that no change was pending; Infinity before the first report. */
  ageMs(): number;
}

/**
 * Starts the watch and reopens it whenever it breaks, as it does with its connection, after some minutes. It is then resumed
 * where it was; if that is not possible, the old records stay in use until a new snapshot is complete.
 */
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
  /** Up to where the records are complete, and since when they need no snapshot. */
  let position = "";
  let snapshotAt = Number.NEGATIVE_INFINITY;

  async function watchOnce(): Promise<void> {
    const silence = new AbortController();
    const watchdog = setTimeout(() => silence.abort(), SILENCE_MS).unref();
    const signal = AbortSignal.any([stopping, silence.signal]);
    let snapshot: Map<string, ApiKey> | undefined = new Map();
    const from = clock() - snapshotAt < RESUMED_FOR_MS ? position : "";
    try {
      for await (const { step } of options.account.watchApiKeys({ position: from }, { signal })) {
        watchdog.refresh();
        if (step.case === "resumed") snapshot = undefined;
        if (step.case === "key") (snapshot ?? records).set(hashName(step.value.hash), apiKeyOf(step.value));
        if (step.case === "snapshotDone") {
          records = snapshot ?? records;
          snapshot = undefined;
          snapshotAt = clock();
          position = "";
          logger.info({ keys: records.size }, "API key replica complete");
        }
        if (step.case === "heartbeat" && !snapshot) position = step.value.position;
        if ((step.case === "heartbeat" || step.case === "snapshotDone") && !snapshot) {
          currentAt = clock();
          if (failures > 1) logger.info("watching API keys succeeds again");
          failures = 0;
        }
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
      // The first end is that of the connection, or of account's process.
      if (failures === 2) logger.warn({ err: error }, "watching API keys fails; retrying");
      await pause(backoffMs(failures, RECONNECT), stopping);
    }
  }

  void watch();
  return { find: (hash) => records.get(hashName(hash)), ageMs: () => clock() - currentAt };
}
