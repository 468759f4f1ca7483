import type { Delivery } from "../delivery/delivery.ts";

/** Returns the JSON that a subscriber receives; absent values are null. Each attempt has its own `delivered_at`. */
export function webhookBody(delivery: Delivery, deliveredAt: Date): string {
  return JSON.stringify({
    event: "monitor.change_detected",
    monitor_id: delivery.monitor_id,
    entity_id: delivery.entity_id,
    changes: delivery.changes.map(({ field, previous, current }) => ({
      field,
      previous,
      current,
      detected_at: delivery.detected_at.toISOString(),
    })),
    verification_id: delivery.verification_id,
    delivered_at: deliveredAt.toISOString(),
  });
}
