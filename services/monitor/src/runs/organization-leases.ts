import { randomUUID } from "node:crypto";
import type { Db } from "mongodb";
import { collections } from "../store.ts";

/** A lease of an organization that this process has taken. */
export interface OrganizationLease {
  readonly organizationId: string;
  readonly id: string;
  /** When it was taken, by the database's clock. */
  readonly takenAt: Date;
}

export type OrganizationLeases = ReturnType<typeof createOrganizationLeases>;

/**
 * The leases of organizations in the scheduler, which all replicas share: one replica at a time claims the due monitors of
 * an organization, and each organization can be leased again some time after its last lease. They only divide the work. A
 * lost lease costs time and no run is claimed twice, so that writes need not be confirmed by a majority.
 */
export function createOrganizationLeases(options: {
  db: Db;
  /** How long a lease lasts that is not ended, as after a crash, in milliseconds. */
  leaseMs: number;
  /** Time from the beginning of a lease to the beginning of the next one of the same organization, in milliseconds. */
  intervalMs: number;
}) {
  const { leaseMs, intervalMs } = options;
  const { organizationLeases } = collections(options.db);
  const writeConcern = { w: 1 };
  const inLease = { $dateAdd: { startDate: "$$NOW", unit: "millisecond", amount: leaseMs } };
  const isNotDue = { $gt: ["$next_turn_at", "$$NOW"] };
  return {
    /** Leases the organization if it is due, by the database's clock. Returns undefined if it is not. */
    async take(organizationId: string): Promise<OrganizationLease | undefined> {
      const id = randomUUID();
      const taken = await organizationLeases.findOneAndUpdate(
        { _id: organizationId },
        [
          {
            $set: {
              next_turn_at: { $cond: [isNotDue, "$next_turn_at", inLease] },
              turn_id: { $cond: [isNotDue, "$turn_id", id] },
            },
          },
        ],
        { upsert: true, returnDocument: "after", writeConcern },
      );
      if (taken?.turn_id !== id) return undefined;
      return { organizationId, id, takenAt: new Date(taken.next_turn_at.getTime() - leaseMs) };
    },

    /** Ends a lease, unless another replica has taken over by now. */
    async end({ organizationId, id, takenAt }: OrganizationLease): Promise<void> {
      const next_turn_at = new Date(takenAt.getTime() + intervalMs);
      await organizationLeases.updateOne(
        { _id: organizationId, turn_id: id },
        { $set: { next_turn_at } },
        { writeConcern },
      );
    },
  };
}
