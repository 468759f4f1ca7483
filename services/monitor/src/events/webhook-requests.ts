import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { changeMessages } from "@vvs/kafka";
import type { Outbox } from "@vvs/outbox";
import { WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { EventDocument, MonitorDocument } from "../model/monitor.ts";

export type WebhookRequests = ReturnType<typeof createWebhookRequests>;

/**
 * Appends records for the webhook-dispatcher to the outbox, in the transaction of the change that they report. Records about
 * URL changes are not ordered relative to a monitor's runs. Each record therefore carries the number of the URL, and the
 * dispatcher uses the URL with the highest number, in whatever order records arrive.
 */
export function createWebhookRequests(options: {
  outbox: Outbox;
  /** Full name of the environment's webhook.requested topic. */
  topic: string;
}) {
  const { outbox, topic } = options;

  function append(
    tenant: Tenant,
    session: ClientSession,
    record: { id: string; monitorId: string; runSeq: number },
    message: Omit<MessageInitShape<typeof WebhookRequestedSchema>, "$typeName" | "tenant" | "run">,
  ): Promise<void> {
    const { id, monitorId: key, runSeq: seq } = record;
    const whole = { ...message, tenant: toProtoTenant(tenant), run: { monitorId: key, runSeq: BigInt(seq) } };
    const value = toBinary(WebhookRequestedSchema, create(WebhookRequestedSchema, whole));
    return outbox.append(session, { id, key, seq, topic, value });
  }

  return {
    /** Requests the delivery of an event to the monitor's current URL. Does nothing if it has none. */
    async event(
      tenant: Tenant,
      session: ClientSession,
      event: EventDocument,
      { webhook_url: webhookUrl, url_version = 0 }: MonitorDocument,
    ): Promise<void> {
      if (!webhookUrl) return;
      const { _id: id, monitor_id: monitorId, run_seq: runSeq } = event;
      await append(
        tenant,
        session,
        { id, monitorId, runSeq },
        {
          eventId: id,
          entityId: event.entity_id,
          verificationId: event.verification_id,
          webhookUrl,
          changes: changeMessages(event.changes),
          detectedAt: timestampFromDate(event.created_at),
          urlVersion: BigInt(url_version),
          externalId: event.external_id,
        },
      );
    },

    /** Reports the monitor's current URL. Retries and replays of earlier events go to it. */
    async urlChanged(tenant: Tenant, session: ClientSession, monitor: MonitorDocument): Promise<void> {
      const { _id: monitorId, run_seq: runSeq, url_version: version = 0, webhook_url: webhookUrl } = monitor;
      const id = `${monitorId}:url:${version}`;
      const change = { webhookUrl, urlVersion: BigInt(version), urlChanged: true };
      // Every record must name a run. Before the first run it names that one.
      await append(tenant, session, { id, monitorId, runSeq: Math.max(runSeq, 1) }, change);
    },
  };
}
