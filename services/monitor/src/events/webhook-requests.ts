import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Outbox } from "@vvs/outbox";
import { WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import { changeMessages } from "../messages.ts";
import type { DetectedChange, MonitorDocument } from "../monitors/monitor.ts";

/** Appends records for the webhook-dispatcher to the outbox, in the transaction of the change that they report. */
export interface WebhookRequests {
  /** Requests the delivery of an event to the monitor's current URL. Does nothing if it has none. */
  event(tenant: Tenant, session: ClientSession, change: DetectedChange, monitor: MonitorDocument): Promise<void>;
  /** Reports the monitor's current URL. Retries and replays of earlier events go to it. */
  urlChanged(tenant: Tenant, session: ClientSession, monitor: MonitorDocument): Promise<void>;
}

/**
 * Records about URL changes are not ordered relative to a monitor's runs. Each record therefore carries the number of the
 * URL, and the dispatcher uses the URL with the highest number, in whatever order records arrive.
 */
export function createWebhookRequests(options: {
  outbox: Outbox;
  /** Full name of the environment's webhook.requested topic. */
  topic: string;
}): WebhookRequests {
  const { outbox, topic } = options;

  function append(
    session: ClientSession,
    position: { id: string; key: string; seq: number },
    message: MessageInitShape<typeof WebhookRequestedSchema>,
  ): Promise<void> {
    const value = toBinary(WebhookRequestedSchema, create(WebhookRequestedSchema, message));
    return outbox.append(session, { ...position, topic, value });
  }

  return {
    async event(tenant, session, change, monitor) {
      if (!monitor.webhook_url) return;
      const { eventId: id, monitorId: key, runSeq: seq } = change;
      await append(
        session,
        { id, key, seq },
        {
          eventId: id,
          tenant: toProtoTenant(tenant),
          run: { monitorId: key, runSeq: BigInt(seq) },
          entityId: change.entityId,
          verificationId: change.verificationId,
          webhookUrl: monitor.webhook_url,
          changes: changeMessages(change.changes),
          detectedAt: timestampFromDate(change.detectedAt),
          urlVersion: BigInt(monitor.url_version ?? 0),
        },
      );
    },
    async urlChanged(tenant, session, monitor) {
      const { _id: key, run_seq: seq, url_version: version = 0 } = monitor;
      await append(
        session,
        { id: `${key}:url:${version}`, key, seq },
        {
          tenant: toProtoTenant(tenant),
          run: { monitorId: key, runSeq: BigInt(seq) },
          webhookUrl: monitor.webhook_url,
          urlVersion: BigInt(version),
          urlChanged: true,
        },
      );
    },
  };
}
