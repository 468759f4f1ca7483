import { randomUUID } from "node:crypto";
import type { Logger } from "@vvs/logging";
import { superviseLoop } from "@vvs/retry";

/**
 * Sends reports to account, one after the other, until closed. One with an unknown outcome is sent again unchanged, with the
 * same id, before any other: so what is in it counts once.
 */
export function startReports<Report>(options: {
  /** Takes what the next report contains; undefined if nothing waits. */
  take: () => Report | undefined;
  /** Sends a report. Errors: it is sent again. */
  send: (reportId: string, report: Report) => Promise<unknown>;
  /** Returns whether so much waits that the next report follows without a pause. */
  isFull: () => boolean;
  everyMs: number;
  /** Log messages, as of `superviseLoop`; `lost`: the last reports could not be sent. */
  failure: string;
  recovery: string;
  lost: string;
  logger: Logger;
}): { close(): Promise<void> } {
  const { take, send, isFull, everyMs, lost, logger, ...messages } = options;
  const stopping = new AbortController();
  let unsent: { readonly id: string; readonly report: Report } | undefined;

  /** Returns whether there was a report. */
  async function sendNext(): Promise<boolean> {
    if (!unsent) {
      const report = take();
      if (report === undefined) return false;
      unsent = { id: randomUUID(), report };
    }
    await send(unsent.id, unsent.report);
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
