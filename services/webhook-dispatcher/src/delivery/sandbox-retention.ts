import type { Logger } from "@vvs/logging";
import { forAged, type Keeping, superviseAging } from "@vvs/mongo";
import type { SupervisedLoop } from "@vvs/retry";
import type { Db } from "mongodb";
import type { Delivery } from "../model/delivery.ts";

interface Retention {
  readonly db: Db;
  readonly keeping: Keeping;
  readonly stopping: AbortSignal;
}

/**
 * Reduces the sandbox's deliveries that are past their time to their ids and times. No organization sees such a delivery,
 * but its id still refuses a second one for the same event, until MongoDB deletes it. Pending deliveries stay. Returns how
 * many were reduced.
 */
export function reduceAged({ db, ...aging }: Retention & { now: Date }): Promise<number> {
  const deliveries = db.collection<Delivery>("deliveries");
  const filter = { status: { $in: ["delivered", "failed"] } } as const;
  const mark = { $replaceWith: { _id: "$_id", created_at: "$created_at" } };
  return forAged(deliveries, { ...aging, filter }, async (organization_id, ids) => {
    // A delivery that was replayed meanwhile is pending again.
    return (await deliveries.updateMany({ _id: { $in: ids }, organization_id, ...filter }, [mark])).modifiedCount;
  });
}

/** Reduces the sandbox's aged deliveries from time to time. */
export function runSandboxRetention(options: Retention & { now: () => Date; logger: Logger }): SupervisedLoop {
  const { db, keeping, ...more } = options;
  return superviseAging({
    ...more,
    round: (now) => reduceAged({ db, keeping, stopping: options.stopping, now }),
    done: "aged sandbox deliveries were reduced to their ids",
    counted: "reduced",
    failure: "aged sandbox deliveries can't be reduced; retrying",
    recovery: "aged sandbox deliveries are reduced again",
  });
}
