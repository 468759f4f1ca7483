import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { PoisonRecordError } from "@vvs/kafka";
import { findPage, inTransaction, isDuplicateKey, type Page } from "@vvs/mongo";
import type { Outbox } from "@vvs/outbox";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import { WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import type { ClientSession, Db, MongoClient } from "mongodb";
import { changeMessages } from "./messages.ts";
import type { EventDocument, FieldChange, MonitorDocument } from "./monitor.ts";
import { collections, type MonitorStore } from "./store.ts";

/** A change that was detected and is not in the history yet. */
export interface DetectedChange {
  readonly eventId: string;
  readonly monitorId: string;
  readonly runSeq: number;
  readonly entityId: string;
  readonly verificationId: string;
  readonly changes: readonly FieldChange[];
  readonly detectedAt: Date;
}

export interface EventHistory {
  /**
   * Writes a change into the history and asks for its delivery, both or neither. Nothing happens where the monitor is
   * canceled by then, or the event is there already. Errors: PoisonRecordError for a monitor that never was.
   */
  record(tenant: Tenant, change: DetectedChange): Promise<"recorded" | "canceled" | "duplicate">;
  /** The events of one monitor, or of all of the organization's, newest first. */
  list(tenant: Tenant, monitorId: string | undefined, page: PageRequest | undefined): Promise<Page<EventDocument>>;
}

export function createEventHistory(options: {
  db: Db;
  client: MongoClient;
  store: MonitorStore;
  outbox: Outbox;
  /** The full name of the environment's webhook.requested. */
  topic: string;
}): EventHistory {
  const { client, store, outbox, topic } = options;
  const { events } = collections(options.db);

  async function insert(tenant: Tenant, session: ClientSession, change: DetectedChange) {
    const event = eventOf(tenant, change);
    const { organization_id, monitor_id, verification_id } = event;
    if (await events.findOne({ organization_id, monitor_id, verification_id }, { session })) return "duplicate";
    // A write to the monitor, so that a cancellation at the same time comes wholly before or wholly after.
    const monitor = await store.countEvent(tenant, session, monitor_id);
    if (!monitor) {
      if (!(await store.find(tenant, monitor_id, session))) throw new PoisonRecordError("no such monitor");
      return "canceled";
    }
    await events.insertOne(event, { session });
    await outbox.append(session, webhookRequested(tenant, change, monitor, topic));
    return "recorded";
  }

  return {
    async record(tenant, change) {
      try {
        return await inTransaction(client, (session) => insert(tenant, session, change));
      } catch (error) {
        if (isDuplicateKey(error, "verification_id")) return "duplicate";
        throw error;
      }
    },
    list(tenant, monitorId, page) {
      const filter = { organization_id: tenant.organizationId, ...(monitorId && { monitor_id: monitorId }) };
      return findPage(events, filter, page);
    },
  };
}

function eventOf(tenant: Tenant, change: DetectedChange): EventDocument {
  return {
    _id: change.eventId,
    organization_id: tenant.organizationId,
    monitor_id: change.monitorId,
    entity_id: change.entityId,
    run_seq: change.runSeq,
    verification_id: change.verificationId,
    changes: change.changes,
    created_at: change.detectedAt,
  };
}

/** Goes to the URL that the monitor has now. */
function webhookRequested(tenant: Tenant, change: DetectedChange, monitor: MonitorDocument, topic: string) {
  const message = create(WebhookRequestedSchema, {
    eventId: change.eventId,
    tenant: toProtoTenant(tenant),
    run: { monitorId: change.monitorId, runSeq: BigInt(change.runSeq) },
    entityId: change.entityId,
    verificationId: change.verificationId,
    webhookUrl: monitor.webhook_url,
    changes: changeMessages(change.changes),
    detectedAt: timestampFromDate(change.detectedAt),
  });
  const value = toBinary(WebhookRequestedSchema, message);
  return { id: change.eventId, topic, key: change.monitorId, seq: change.runSeq, value };
}
