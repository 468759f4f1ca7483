import { PoisonRecordError } from "@vvs/kafka";
import { findPage, inTransaction, isDuplicateKey, type Page } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Environment, Tenant } from "@vvs/tenant";
import type { ClientSession, Db, MongoClient } from "mongodb";
import type { EventDocument } from "../model/monitor.ts";
import { collections, type MonitorStore } from "../store.ts";
import { addNotification } from "./notifications.ts";
import type { WebhookRequests } from "./webhook-requests.ts";

export type EventHistory = ReturnType<typeof createEventHistory>;

/** The stored events of one environment. */
export function createEventHistory(options: {
  db: Db;
  client: MongoClient;
  store: MonitorStore;
  webhooks: WebhookRequests;
  /** Members are notified of live events only. */
  environment: Environment;
  now: () => Date;
}) {
  const { db, client, store, webhooks, environment } = options;
  const { events } = collections(db);

  async function insert(tenant: Tenant, session: ClientSession, event: EventDocument, entityName: string) {
    const { monitor_id, run_seq } = event;
    // This writes to the monitor, so a concurrent cancellation happens either before or after the whole transaction.
    const monitor = await store.countEvent(tenant, session, { id: monitor_id, runSeq: run_seq });
    if (!monitor) {
      const found = await store.find(tenant, monitor_id, session);
      if (!found) throw new PoisonRecordError("the record names a monitor that does not exist");
      return found.status === "canceled" ? "canceled" : "duplicate";
    }
    const { external_id = event.external_id } = monitor;
    const numbered = { ...event, ...(external_id && { external_id }) };
    await events.insertOne({ ...numbered, recorded_at: options.now() }, { session });
    await webhooks.event(tenant, session, numbered, monitor);
    if (environment === "live") await addNotification(db, session, numbered, entityName);
    return "recorded";
  }

  return {
    /**
     * Stores a change as an event, with its notification, and, if the monitor has a URL, requests its delivery in the same
     * transaction. A number of the monitor takes the place of the event's. `entityName` is the vendor's, empty where it is not
     * known. Does nothing if the monitor is canceled, or the event is already stored
     * or past its time. Errors: PoisonRecordError for a monitor that does not exist.
     */
    async record(
      tenant: Tenant,
      event: EventDocument,
      entityName: string,
    ): Promise<"recorded" | "canceled" | "duplicate"> {
      try {
        return await inTransaction(client, (session) => insert(tenant, session, event, entityName));
      } catch (error) {
        if (isDuplicateKey(error)) return "duplicate";
        throw error;
      }
    },

    /** Returns the events of one monitor, or of all monitors of the organization if undefined, newest first. */
    list(tenant: Tenant, monitorId: string | undefined, page: PageRequest | undefined): Promise<Page<EventDocument>> {
      const filter = { organization_id: tenant.organizationId, ...(monitorId && { monitor_id: monitorId }) };
      return findPage(events, filter, page);
    },
  };
}
