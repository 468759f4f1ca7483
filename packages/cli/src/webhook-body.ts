import type { MonitorChangeDetected, MonitorEvent } from "@vendor-verification/client";

/** Returns what a webhook about an event contains. In a webhook an absent value is null, in an event it is empty text. */
export function webhookBody(
  { id: _id, detected_at: _at, changes, ...event }: MonitorEvent,
  deliveredAt: Date,
): MonitorChangeDetected {
  return {
    ...event,
    changes: changes.map(({ previous, current, ...change }) => ({
      ...change,
      previous: previous || null,
      current: current || null,
    })),
    delivered_at: deliveredAt.toISOString(),
  };
}
