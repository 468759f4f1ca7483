import type { Logger } from "@vvs/logging";
import { agedBatches, type Keeping } from "@vvs/mongo";
import { pause, type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { AccountStore } from "../store.ts";
import { REQUESTS_KEPT_DAYS } from "./documents.ts";

const ROUND_MS = 10 * 60_000;
/** Pause after each batch, so that calls come first. */
const PAUSE_MS = 200;

/** Removes the sandbox's oldest requests beyond an organization's number, but none younger than a day. Returns how many. */
export async function removeSurplus(options: {
  store: Pick<AccountStore, "requestLog">;
  newest: number;
  now: Date;
  stopping: AbortSignal;
}): Promise<number> {
  const { stopping, now, newest } = options;
  const { requestLog } = options.store;
  const scope = { environment: "sandbox" } as const;
  const keeping: Keeping = { days: REQUESTS_KEPT_DAYS, newest };
  let removed = 0;
  for await (const { organizationId, ids } of agedBatches(requestLog, { scope, filter: {}, keeping, now })) {
    const surplus = { _id: { $in: [...ids] }, organization_id: organizationId, ...scope };
    removed += (await requestLog.deleteMany(surplus)).deletedCount;
    await pause(PAUSE_MS, stopping);
    if (stopping.aborted) break;
  }
  return removed;
}

/** Removes the sandbox's surplus requests every ten minutes. Replicas may do so at the same time. */
export function runSandboxRetention(options: {
  store: Pick<AccountStore, "requestLog">;
  newest: number;
  now: () => Date;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { now, stopping, logger } = options;
  return superviseLoop({
    async round() {
      const removed = await removeSurplus({ ...options, now: now() });
      if (removed > 0) logger.info({ removed }, "surplus sandbox requests were removed");
      return ROUND_MS;
    },
    failure: "surplus sandbox requests can't be removed; retrying",
    recovery: "surplus sandbox requests are removed again",
    backoff: { firstMs: 1_000, longestMs: 60_000 },
    stopping,
    logger,
  });
}
