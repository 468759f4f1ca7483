import { setTimeout as wait } from "node:timers/promises";
import { createBatcher } from "@vvs/batching";
import type { Logger } from "@vvs/logging";
import type { DeliveryStore, Made } from "./store.ts";

/** Attempts kept by one round trip. */
const MAX_BATCH = 250;
const AT_ONCE = 2;
const AGAIN_MS = 500;

export interface Recorder {
  /** Keeps an attempt, and tries until it is kept, or until its lease has ended: then another makes it again. */
  record(made: Made): Promise<void>;
  /** Attempts that are not kept yet. */
  readonly waiting: number;
  /** Resolves when none is left. */
  idle(): Promise<void>;
}

/** Keeps attempts, those that end together by one write. */
export function createRecorder(options: {
  store: Pick<DeliveryStore, "record">;
  logger: Logger;
  now: () => Date;
}): Recorder {
  const { store, logger, now } = options;
  const waiting = new Set<Promise<void>>();
  let troubled = false;
  const keep = createBatcher<Made, boolean>({
    run: (items) => store.record(items),
    maxSize: MAX_BATCH,
    atOnce: AT_ONCE,
    failsAll: () => true,
  });

  async function keepAtLast(made: Made): Promise<void> {
    const { delivery } = made;
    for (;;) {
      try {
        if (!(await keep(made)))
          logger.warn({ delivery_id: delivery._id }, "an attempt took longer than its lease; it is made again");
        if (troubled) logger.info("attempts are recorded again");
        troubled = false;
        return;
      } catch (err) {
        if (!troubled) logger.error({ err }, "attempts can't be recorded; trying until they can, or are made again");
        troubled = true;
        if (delivery.next_attempt_at! <= now()) return;
        await wait(AGAIN_MS);
      }
    }
  }

  return {
    record(made) {
      const kept = keepAtLast(made).finally(() => waiting.delete(kept));
      waiting.add(kept);
      return kept;
    },
    get waiting() {
      return waiting.size;
    },
    async idle() {
      while (waiting.size > 0) await Promise.all(waiting);
    },
  };
}
