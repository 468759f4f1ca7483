import { context, propagation } from "@opentelemetry/api";
import { newId } from "@vvs/ids";
import type { Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { Change, Delivery } from "./delivery.ts";
import { endpointId } from "./endpoint.ts";

/** What a test event says: a vendor's registration ran out. */
const MADE_UP_CHANGES: readonly Change[] = [
  { field: "sam_registration.status", previous: "pass", current: "fail" },
  { field: "sam_registration.registration_status", previous: "active", current: "expired" },
];

export interface TestEvents {
  /** Has a made-up event sent to a URL; its delivery is due at once. */
  add(tenant: Tenant, deliveryId: string, webhookUrl: string, now: Date): Promise<Delivery>;
  /** How many were made since. */
  countSince(tenant: Tenant, since: Date): Promise<number>;
}

/** Test events of one environment. */
export function createTestEvents(options: { db: Db }): TestEvents {
  const deliveries = options.db.collection<Delivery>("deliveries");
  return {
    async add(tenant, deliveryId, webhookUrl, now) {
      const { organizationId } = tenant;
      const delivery: Delivery = {
        ...testDelivery(deliveryId, webhookUrl, now),
        organization_id: organizationId,
        endpoint_id: endpointId(organizationId, webhookUrl),
      };
      await deliveries.insertOne(delivery);
      return delivery;
    },

    countSince: (tenant, since) =>
      deliveries.countDocuments({ organization_id: tenant.organizationId, test: true, created_at: { $gte: since } }),
  };
}

function testDelivery(id: string, webhookUrl: string, now: Date): Omit<Delivery, "organization_id" | "endpoint_id"> {
  const trace: Record<string, string> = {};
  propagation.inject(context.active(), trace);
  return {
    _id: id,
    event_id: newId("evt", now),
    monitor_id: newId("mon", now),
    run_seq: 0,
    entity_id: newId("ent", now),
    verification_id: newId("ver", now),
    webhook_url: webhookUrl,
    changes: MADE_UP_CHANGES,
    detected_at: now,
    status: "pending",
    attempts: [],
    next_attempt_at: now,
    due_at: now,
    trace,
    created_at: now,
    test: true,
  };
}
