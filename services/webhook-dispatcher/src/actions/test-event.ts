import { context, propagation } from "@opentelemetry/api";
import { newId } from "@vvs/ids";
import type { FieldChange } from "@vvs/kafka";
import type { Tenant } from "@vvs/tenant";
import { destinationOf } from "../endpoints/endpoint.ts";
import type { Delivery } from "../model/delivery.ts";

/** Content of a test event: a vendor's registration expired. */
const TEST_CHANGES: readonly FieldChange[] = [
  { field: "sam_registration.status", previous: "pass", current: "fail" },
  { field: "sam_registration.registration_status", previous: "active", current: "expired" },
];

/** Returns a new delivery of a test event, which is due immediately. */
export function testDelivery({ organizationId }: Tenant, id: string, webhookUrl: string, now: Date): Delivery {
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
