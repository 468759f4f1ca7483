import type { Delivery, Signatures } from "../model/delivery.ts";
import { webhookTimestamp } from "./signature.ts";

/**
 * Returns the JSON that a subscriber receives. Absent values of changes are null; an absent number is left out. Each attempt
 * has its own `delivered_at`. A test event says so in the body too, which is signed.
 */
export function webhookBody(delivery: Delivery, deliveredAt: Date): string {
  return JSON.stringify({
    event: "monitor.change_detected",
    monitor_id: delivery.monitor_id,
    entity_id: delivery.entity_id,
    external_id: delivery.external_id,
    changes: delivery.changes.map((change) => ({ ...change, detected_at: delivery.detected_at.toISOString() })),
    verification_id: delivery.verification_id,
    delivered_at: deliveredAt.toISOString(),
    ...(delivery.test && { test: true }),
  });
}

/** Returns the headers of an attempt, except User-Agent and those of the trace. */
export function attemptHeaders(
  { event_id, test }: Pick<Delivery, "event_id" | "test">,
  attempt: { readonly number: number; readonly sentAt: Date; readonly signatures: Signatures },
): Record<string, string> {
  return {
    "Content-Type": "application/json",
    "X-Service-Signature": attempt.signatures.service,
    "webhook-id": event_id,
    "webhook-timestamp": webhookTimestamp(attempt.sentAt),
    "webhook-signature": attempt.signatures.standard,
    "Idempotency-Key": event_id,
    "X-Delivery-Attempt": String(attempt.number),
    ...(test && { "X-Delivery-Test": "true" }),
  };
}
