import { setTimeout as wait } from "node:timers/promises";
import { createBatcher } from "@vvs/batching";
import type { Logger } from "@vvs/logging";
import type { AttemptResult } from "../model/retry-schedule.ts";
import type { DeliveryStore } from "./store.ts";

/** Maximum number of attempts recorded by one write. */
const MAX_BATCH = 250;
/** Maximum number of writes at the same time. */
const AT_ONCE = 2;
const RETRY_MS = 500;

export type Recorder = ReturnType<typeof createRecorder>;

/** Records attempts, those that end together by one write. */
export function createRecorder(options: { store: Pick<DeliveryStore, "record">; logger: Logger; now: () => Date }) {
  const { store, logger, now } = options;
  let unrecorded = 0;
  /** The last write failed; shared by all attempts, so that it is logged once. */
  let isFailing = false;
  const recordBatched = createBatcher<AttemptResult, boolean>({
    run: (results) => store.record(results),
    maxSize: MAX_BATCH,
    atOnce: AT_ONCE,
    failsAll: () => true,
  });

  async function recordUntilLeaseEnds(result: AttemptResult): Promise<void> {
    const { delivery } = result;
    for (;;) {
      try {
        if (!(await recordBatched(result)))
          logger.warn({ delivery_id: delivery._id }, "an attempt took longer than its lease; it is repeated");
        if (isFailing) logger.info("attempts are recorded again");
        isFailing = false;
        return;
      } catch (err) {
        if (!isFailing) logger.error({ err }, "attempts can't be recorded; retrying until their leases end");
        isFailing = true;
        if (delivery.next_attempt_at! <= now()) return;
        await wait(RETRY_MS);
      }
    }
  }

  return {
    /** Records an attempt. Retries until it is recorded or its lease has ended: another replica repeats it then. */
    async record(result: AttemptResult): Promise<void> {
      unrecorded++;
      try {
        await recordUntilLeaseEnds(result);
      } finally {
        unrecorded--;
      }
    },
    /** Returns the number of attempts that are not recorded yet. */
    unrecorded: () => unrecorded,
  };
}
