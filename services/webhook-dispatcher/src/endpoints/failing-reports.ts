import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
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

export interface FailingReportOptions {
  /** Of the live environment. */
  readonly db: Db;
  readonly notifications: Pick<Client<typeof NotificationService>, "reportNotifications">;
  readonly logger: Logger;
  readonly now: () => Date;
}

/**
 * Reports to account which endpoints have failed for an hour, for the emails to members. The id is that of the endpoint and the
 * time of its first failure, so account takes it once, whichever replicas report it. Of the URL only the host is reported: a
 * path or a query may hold a secret.
 */
export function createReportFailing({ db, notifications, logger, now }: FailingReportOptions) {
  const endpoints = db.collection<Endpoint>("endpoints");
  let reported = new Set<string>();

  /** Reports those that this process has not reported. Errors: those of the call and of the database; then it is to be called again. */
  return async (): Promise<void> => {
    const at = now().getTime();
    const failing_since = { $gt: new Date(at - HOUR_MS - LATE_MS), $lte: new Date(at - HOUR_MS) };
    const failed = { $gte: ["$last_failure_at", { $add: ["$failing_since", HOUR_MS] }] };
    const seen = new Set<string>();
    for await (const endpoint of endpoints.find({ failing_since, dismissed_at: null, $expr: failed })) {
      const message = messageOf(endpoint);
      seen.add(message.id);
      if (reported.has(message.id)) continue;
      const { organization_id } = endpoint;
      try {
        await notifications.reportNotifications({ organizationId: organization_id, notifications: [message] });
      } catch (err) {
        if (!(err instanceof ServiceError) || err.code !== "invalid_request") throw err;
        logger.error(
          { err, organization_id, notification_id: message.id },
          "account refuses a notification: it is dropped",
        );
      }
      reported.add(message.id);
    }
    reported = seen;
  };
}

function messageOf({ _id, url, failing_since: since }: Endpoint) {
  const value = { host: new URL(url).host, failingSince: timestampFromDate(since!) };
  return { id: `${_id}:fails:${since!.getTime()}`, about: { case: "endpointFails" as const, value } };
}

/** Reports until stopped. */
export function runFailingReports(options: FailingReportOptions & { stopping: AbortSignal }): SupervisedLoop {
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
