import { randomUUID } from "node:crypto";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { superviseLoop } from "@vvs/retry";

/**
 * Sends reports to account, one after the other, until closed. One with an unknown outcome is sent again unchanged, with the
 * same id, before any other: so what is in it counts once. One that account refuses as invalid is logged and dropped, since
 * it would be refused again.
 */
export function startReports<Report>(options: {
  /** Takes what the next report contains; undefined if nothing waits. */
  take: () => Report | undefined;
  /** Sends a report. Errors: invalid_request; after any other error it is sent again. */
  send: (reportId: string, report: Report) => Promise<unknown>;
  /** Called with a report that is dropped. */
  onRefused?: (report: Report) => void;
  /** Returns whether so much waits that the next report follows without a pause. */
  isFull: () => boolean;
  everyMs: number;
  /** Log messages, as of `superviseLoop`; `refused`: a report is dropped; `lost`: the last reports could not be sent. */
  failure: string;
  recovery: string;
  refused: string;
  lost: string;
  logger: Logger;
}): { close(): Promise<void> } {
  const { take, send, onRefused, isFull, everyMs, refused, lost, logger, ...messages } = options;
  const stopping = new AbortController();
  let unsent: { readonly id: string; readonly report: Report } | undefined;

  /** Returns whether there was a report. */
  async function sendNext(): Promise<boolean> {
    if (!unsent) {
      const report = take();
      if (report === undefined) return false;
      unsent = { id: randomUUID(), report };
    }
    const { id, report } = unsent;
    try {
      await send(id, report);
    } catch (err) {
      if (!(err instanceof ServiceError && err.code === "invalid_request")) throw err;
      logger.error({ err }, refused);
      onRefused?.(report);
    }
    unsent = undefined;
    return true;
  }

  const loop = superviseLoop({
    ...messages,
    async round() {
      await sendNext();
      return isFull() ? 0 : everyMs;
    },
    backoff: { firstMs: everyMs, longestMs: everyMs },
    stopping: stopping.signal,
    logger,
  });
  return {
    /** Sends what remains; gives it up if that fails. */
    async close() {
      stopping.abort();
      await loop.ended();
      try {
        while (await sendNext());
      } catch (err) {
        logger.warn({ err }, lost);
      }
    },
  };
}
