import { context, propagation } from "@opentelemetry/api";
import { newId } from "@vvs/ids";
import type { Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { Change, Delivery } from "../delivery/delivery.ts";
import { destinationOf } from "../endpoints/endpoint.ts";

/** Content of a test event: a vendor's registration expired. */
const TEST_CHANGES: readonly Change[] = [
  { field: "sam_registration.status", previous: "pass", current: "fail" },
  { field: "sam_registration.registration_status", previous: "active", current: "expired" },
];

export interface TestEvents {
  /** Adds a delivery of a test event, which is due immediately, and returns it. */
  add(tenant: Tenant, deliveryId: string, webhookUrl: string, now: Date): Promise<Delivery>;
  /** Returns how many were added since then. */
  countSince(tenant: Tenant, since: Date): Promise<number>;
}

/** The test events of one environment. */
export function createTestEvents(options: { db: Db }): TestEvents {
  const deliveries = options.db.collection<Delivery>("deliveries");
  return {
    async add(tenant, deliveryId, webhookUrl, now) {
      const delivery = testDelivery(deliveryId, tenant, webhookUrl, now);
      await deliveries.insertOne(delivery);
      return delivery;
    },

    countSince: (tenant, since) =>
      deliveries.countDocuments({ organization_id: tenant.organizationId, test: true, created_at: { $gte: since } }),
  };
}

function testDelivery(id: string, { organizationId }: Tenant, webhookUrl: string, now: Date): Delivery {
  const trace: Record<string, string> = {};
  propagation.inject(context.active(), trace);
  return {
    _id: id,
    organization_id: organizationId,
    event_id: newId("evt", now),
    monitor_id: newId("mon", now),
    run_seq: 0,
    entity_id: newId("ent", now),
    verification_id: newId("ver", now),
    ...destinationOf(organizationId, webhookUrl),
    changes: TEST_CHANGES,
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
