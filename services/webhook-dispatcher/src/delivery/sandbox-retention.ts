import type { Logger } from "@vvs/logging";
import { agedBatches, type Keeping } from "@vvs/mongo";
import { pause, type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { Db } from "mongodb";
import type { Delivery } from "./delivery.ts";

const ROUND_MS = 10 * 60_000;
/** Pause after each batch, so that deliveries and their lists come first. */
const PAUSE_MS = 200;

/**
 * Reduces the sandbox's deliveries that are past their time to their ids and times. No organization sees such a delivery,
 * but its id still refuses a second one for the same event, until MongoDB deletes it. Pending deliveries stay. Returns how
 * many were reduced.
 */
export async function reduceAged(options: {
  db: Db;
  keeping: Keeping;
  now: Date;
  stopping: AbortSignal;
}): Promise<number> {
  const { db, keeping, now, stopping } = options;
  const deliveries = db.collection<Delivery>("deliveries");
  const filter = { status: { $in: ["delivered", "failed"] } } as const;
  let reduced = 0;
  for await (const { organizationId, ids } of agedBatches(deliveries, { filter, keeping, now })) {
    // A delivery that was replayed meanwhile is pending again.
    const done = { _id: { $in: [...ids] }, organization_id: organizationId, ...filter };
    const mark = { $replaceWith: { _id: "$_id", created_at: "$created_at" } };
    reduced += (await deliveries.updateMany(done, [mark])).modifiedCount;
    await pause(PAUSE_MS, stopping);
    if (stopping.aborted) break;
  }
  return reduced;
}

/** Reduces the sandbox's aged deliveries every ten minutes. Replicas may do so at the same time. */
export function runSandboxRetention(options: {
  db: Db;
  keeping: Keeping;
  now: () => Date;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { now, stopping, logger, ...more } = options;
  return superviseLoop({
    async round() {
      const reduced = await reduceAged({ ...more, stopping, now: now() });
      if (reduced > 0) logger.info({ reduced }, "aged sandbox deliveries were reduced to their ids");
      return ROUND_MS;
    },
    failure: "aged sandbox deliveries can't be reduced; retrying",
    recovery: "aged sandbox deliveries are reduced again",
    backoff: { firstMs: 1_000, longestMs: 60_000 },
    stopping,
    logger,
  });
}
