import type { Logger } from "@vvs/logging";
import type { ConsumedRecord } from "../record.ts";
import type { Instruments } from "../telemetry.ts";

const REMINDER_MS = 60_000;

/** Logs failing records: when the first one fails, once a minute while any still fails, and when all have succeeded. */
export function createRetryReport(options: { logger: Logger; instruments: Pick<Instruments, "retrying"> }) {
  const { logger, instruments } = options;
  let retrying = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;

  return {
    failed({ topic, partition, offset }: ConsumedRecord, attempt: number, err: unknown): void {
      if (attempt === 1) {
        retrying++;
        instruments.retrying.add(1);
      }
      const quietMs = performance.now() - loggedAtMs;
      if (!(attempt === 1 && retrying === 1) && quietMs < REMINDER_MS) return;
      loggedAtMs = performance.now();
      const at = { topic, partition, offset: String(offset) };
      logger.warn({ err, ...at, attempt, retrying }, "a record could not be processed; trying again until it succeeds");
    },
    /** Call it when a record that had failed is processed, or when its partition is another consumer's. */
    ended(processed: boolean): void {
      retrying--;
      instruments.retrying.add(-1);
      if (processed && retrying === 0) logger.info("the records that had failed are processed");
    },
  };
}
