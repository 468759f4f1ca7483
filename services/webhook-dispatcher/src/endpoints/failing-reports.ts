import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Logger } from "@vvs/logging";
import type { NotificationService } from "@vvs/proto/account/v1/notifications";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { Client } from "@vvs/rpc";
import type { Db } from "mongodb";
import type { Endpoint } from "./endpoint.ts";

const HOUR_MS = 60 * 60_000;
/** How late a report may be, as after an outage. */
const LATE_MS = 24 * HOUR_MS;
const POLL_MS = 5 * 60_000;
/** Maximum number of endpoints that are reported together: account takes no more. */
const BATCH = 100;

export interface FailingReportOptions {
  /** Of the live environment. */
  readonly db: Db;
  readonly notifications: Pick<Client<typeof NotificationService>, "reportNotifications">;
  readonly now: () => Date;
}

/**
 * Reports to account which endpoints have failed for an hour, for the emails to members. The id is that of the endpoint and the
 * time of its first failure, so account takes it once, whichever replicas report it. Of the URL only the host is reported: a
 * path or a query may hold a secret.
 */
export function createReportFailing({ db, notifications, now }: FailingReportOptions) {
  const endpoints = db.collection<Endpoint>("endpoints");
  let reported: ReadonlySet<string> = new Set();

  /** Reports those that this process has not reported. Errors: those of the call and of the database; then it is to be called again. */
  return async (): Promise<void> => {
    const at = now().getTime();
    const failing_since = { $gt: new Date(at - HOUR_MS - LATE_MS), $lte: new Date(at - HOUR_MS) };
    const failed = { $gte: ["$last_failure_at", { $add: ["$failing_since", HOUR_MS] }] };
    const found = await endpoints.find({ failing_since, dismissed_at: null, $expr: failed }).toArray();
    const done = new Set(found.map(idOf).filter((id) => reported.has(id)));
    reported = done;
    const left = found.filter((endpoint) => !done.has(idOf(endpoint)));
    for (const [organizationId, own] of Map.groupBy(left, ({ organization_id }) => organization_id)) {
      for (let first = 0; first < own.length; first += BATCH) {
        const batch = own.slice(first, first + BATCH);
        await notifications.reportNotifications({ organizationId, notifications: batch.map(messageOf) });
        for (const endpoint of batch) done.add(idOf(endpoint));
      }
    }
  };
}

const idOf = ({ _id, failing_since }: Endpoint) => `${_id}:fails:${failing_since!.getTime()}`;

function messageOf(endpoint: Endpoint) {
  const value = { host: new URL(endpoint.url).host, failingSince: timestampFromDate(endpoint.failing_since!) };
  return { id: idOf(endpoint), about: { case: "endpointFails" as const, value } };
}

/** Reports until stopped. */
export function runFailingReports(
  options: FailingReportOptions & { stopping: AbortSignal; logger: Logger },
): SupervisedLoop {
  const { stopping, logger } = options;
  const report = createReportFailing(options);
  return superviseLoop({
    async round() {
      await report();
      return POLL_MS;
    },
    failure: "failing endpoints can't be reported; retrying until they can",
    recovery: "failing endpoints are reported again",
    backoff: { firstMs: 1_000, longestMs: 60_000 },
    stopping,
    logger,
  });
}
