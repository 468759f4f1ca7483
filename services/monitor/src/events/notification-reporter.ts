import { metrics } from "@opentelemetry/api";
import { ServiceError } from "@vvs/errors";
import { changeMessages } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { createLeases, type LeasedWork, type Leases, runLeasedWork } from "@vvs/outbox";
import type { NotificationService } from "@vvs/proto/account/v1/notifications";
import type { Client } from "@vvs/rpc";
import { observeGauges } from "@vvs/telemetry/gauges";
import type { Db } from "mongodb";
import { type NotificationDocument, notificationsOf } from "./notifications.ts";

/** Maximum number of notifications that are read, and reported, together. Account takes no more. */
const BATCH = 100;
/** Pause between two searches, in milliseconds: the emails wait for minutes anyway. */
const POLL_MS = 2_000;

/** Account, and where its refusals are logged. */
export interface ReportTo {
  readonly notifications: Pick<Client<typeof NotificationService>, "reportNotifications">;
  readonly logger: Logger;
}

type Messages = NonNullable<Parameters<ReportTo["notifications"]["reportNotifications"]>[0]["notifications"]>;

/**
 * Reports notifications of one organization. Where account refuses them, they are reported one by one, and those that it
 * refuses then are logged and dropped. Errors: those of the call, except a refusal.
 */
export async function reportTo(to: ReportTo, organizationId: string, messages: Messages): Promise<void> {
  try {
    await to.notifications.reportNotifications({ organizationId, notifications: messages });
  } catch (err) {
    if (!(err instanceof ServiceError) || err.code !== "invalid_request") throw err;
    if (messages.length > 1) for (const message of messages) await reportTo(to, organizationId, [message]);
    else {
      const ids = { organization_id: organizationId, notification_id: messages[0]!.id };
      to.logger.error({ err, ...ids }, "account refuses a notification: it is dropped");
    }
  }
}

/**
 * Reports the notifications of the held shards, one organization after the other, and removes those that account has or
 * refuses. After a crash in between they are reported again, which changes nothing. Errors: those of the report and of the
 * database; nothing is lost.
 */
export async function reportNotifications(
  db: Db,
  { leases, ...to }: ReportTo & { leases: Pick<Leases, "held"> },
): Promise<void> {
  const waiting = notificationsOf(db);
  for (let after = ""; ; ) {
    const found = await waiting
      .find({ shard: { $in: [...leases.held()] }, _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(BATCH)
      .toArray();
    if (found.length === 0) break;
    for (const [organizationId, own] of Map.groupBy(found, ({ organization_id }) => organization_id)) {
      await reportTo(to, organizationId, own.map(messageOf));
      await waiting.deleteMany({ _id: { $in: own.map(({ _id }) => _id) } });
    }
    after = found.at(-1)!._id;
  }
}

function messageOf({ _id: id, changes, ...vendor }: NotificationDocument) {
  const { entity_id: entityId, entity_name: entityName, external_id: externalId } = vendor;
  const value = { entityId, entityName, externalId, changes: changeMessages(changes) };
  return { id, about: { case: "vendorChanged" as const, value } };
}

/** Reports notifications until stopped. The replicas of the service share the organizations. */
export function runNotificationReporter({ db, ...to }: ReportTo & { db: Db }): LeasedWork {
  const leases = createLeases({ db, name: "notification_reporter" });
  const work = () => reportNotifications(db, { leases, ...to });
  return runLeasedWork({ leases, pollMs: POLL_MS, work, logger: to.logger });
}

/** Exports how many notifications account does not have for certain yet. Returns a function that ends it. */
export function observeWaitingNotifications(db: Db): () => void {
  const meter = metrics.getMeter("monitor");
  const gauge = meter.createObservableGauge("monitor_notifications_waiting", {
    description: "Events that account does not have yet for the emails to members. Normally they wait for seconds.",
  });
  return observeGauges(meter, [gauge], async (observe) => {
    observe(gauge, await notificationsOf(db).estimatedDocumentCount());
  });
}
