import { take } from "@vvs/mongo";
import type { Db } from "mongodb";
import type { Delivery } from "../model/delivery.ts";

const HOUR_MS = 60 * 60_000;

/** Number of events that an organization's sandbox monitors requested in an hour. */
export interface SandboxHour {
  /** `<organization>:<start of the hour, RFC 3339>`. */
  readonly _id: string;
  readonly events: number;
  readonly expires_at: Date;
}

/** Returns the ids of those deliveries that exceed a limit. */
export type OverLimit = (deliveries: readonly Delivery[], at: Date) => Promise<ReadonlySet<string>>;

/**
 * Limits the events of each organization per hour. All replicas count together, in the store. An event whose record comes
 * again counts again, and keeps the delivery that it has.
 */
export function createSandboxLimit({ db, eventsPerHour }: { db: Db; eventsPerHour: number }): OverLimit {
  const hours = db.collection<SandboxHour>("sandbox_hours");

  return async (deliveries, at) => {
    const hour = new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
    const expires_at = new Date(hour.getTime() + 2 * HOUR_MS);
    const byOrganization = [...Map.groupBy(deliveries, ({ organization_id }) => organization_id)];
    const over = await Promise.all(
      byOrganization.map(async ([organizationId, some]) => {
        const counting = { wanted: some.length, raise: { events: eventsPerHour }, set: { expires_at } };
        const { granted } = await take(hours, `${organizationId}:${hour.toISOString()}`, counting);
        return some.slice(granted);
      }),
    );
    return new Set(over.flat().map(({ _id }) => _id));
  };
}
