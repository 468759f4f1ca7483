import type { MonitorChangeDetected, MonitorEvent } from "@vendor-verification/client";

/** Returns what a webhook about an event contains. In a webhook an absent value is null, in an event it is empty text. */
export function webhookBody(event: MonitorEvent, entityId: string, deliveredAt: Date): MonitorChangeDetected {
  const { monitor_id, changes, verification_id, detected_at, external_id } = event;
  return {
    event: "monitor.change_detected",
    monitor_id,
    entity_id: entityId,
    changes: changes.map(({ field, previous, current }) => ({
      field,
      previous: previous || null,
      current: current || null,
      detected_at,
    })),
    verification_id,
    delivered_at: deliveredAt.toISOString(),
    ...(external_id !== undefined && { external_id }),
  };
}
