import { findPage, type Page } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import type { ClientSession, Collection, Db, Filter } from "mongodb";
import type { CheckStatus, EventDocument, MonitorDocument, RunDocument } from "./monitor.ts";

/** How many monitors of an organization are active; written with each creation and cancellation. */
interface OrganizationDocument {
  readonly _id: string;
  readonly active_monitors: number;
}

/** The collections of one environment; all are made by the migration. */
export function collections(db: Db): {
  monitors: Collection<MonitorDocument>;
  runs: Collection<RunDocument>;
  events: Collection<EventDocument>;
  organizations: Collection<OrganizationDocument>;
} {
  return {
    monitors: db.collection<MonitorDocument>("monitors"),
    runs: db.collection<RunDocument>("runs"),
    events: db.collection<EventDocument>("monitor_events"),
    organizations: db.collection<OrganizationDocument>("organizations"),
  };
}

export interface MonitorFilter {
  readonly status: MonitorDocument["status"];
  /** Empty for all. */
  readonly entityId: string;
  /** What the last finished run came to; undefined for all. */
  readonly lastOutcome: CheckStatus | undefined;
}

export interface MonitorStore {
  activeMonitors(tenant: Tenant): Promise<number>;
  /** Counts by so many; returns how many are active now. Two at once wait for each other. */
  countActive(tenant: Tenant, session: ClientSession, by: 1 | -1): Promise<number>;
  insert(tenant: Tenant, session: ClientSession, monitor: MonitorDocument): Promise<void>;
  /** A monitor of any status. */
  find(tenant: Tenant, id: string, session?: ClientSession): Promise<MonitorDocument | undefined>;
  /** Those that fit, newest first. */
  list(tenant: Tenant, filter: MonitorFilter, page: PageRequest | undefined): Promise<Page<MonitorDocument>>;
  /** Puts a new version in the place of one that was read in the same transaction. */
  replace(tenant: Tenant, session: ClientSession, monitor: MonitorDocument): Promise<void>;
  /**
   * Puts the schedule of a new version in the place of exactly the one that was seen. False where the monitor was
   * claimed, canceled or scheduled anew meanwhile.
   */
  replaceScheduled(
    tenant: Tenant,
    session: ClientSession,
    seen: MonitorDocument,
    monitor: MonitorDocument,
  ): Promise<boolean>;
  /** Counts an event on an active monitor; undefined where it is canceled or not there. */
  countEvent(tenant: Tenant, session: ClientSession, id: string): Promise<MonitorDocument | undefined>;
  /** Monitors of every organization whose next run may be claimed, the longest waiting first: for the schedule alone. */
  claimable(now: Date, limit: number): Promise<MonitorDocument[]>;
}

export function createMonitorStore(db: Db): MonitorStore {
  const { monitors, organizations } = collections(db);
  const owned = (tenant: Tenant, id: string) => ({ _id: id, organization_id: tenant.organizationId });
  return {
    async activeMonitors(tenant) {
      return (await organizations.findOne({ _id: tenant.organizationId }))?.active_monitors ?? 0;
    },
    async countActive(tenant, session, by) {
      const counted = await organizations.findOneAndUpdate(
        { _id: tenant.organizationId },
        { $inc: { active_monitors: by } },
        { session, upsert: true, returnDocument: "after" },
      );
      return counted!.active_monitors;
    },
    async insert(tenant, session, monitor) {
      await monitors.insertOne({ ...monitor, organization_id: tenant.organizationId }, { session });
    },
    async find(tenant, id, session) {
      return (await monitors.findOne(owned(tenant, id), { session })) ?? undefined;
    },
    list(tenant, { status, entityId, lastOutcome }, page) {
      const filter: Filter<MonitorDocument> = {
        organization_id: tenant.organizationId,
        status,
        ...(entityId && { entity_id: entityId }),
        ...(lastOutcome && { "last_run.outcome": lastOutcome }),
      };
      return findPage(monitors, filter, page);
    },
    async replace(tenant, session, monitor) {
      await monitors.replaceOne(owned(tenant, monitor._id), monitor, { session });
    },
    async replaceScheduled(tenant, session, seen, monitor) {
      const unchanged: Filter<MonitorDocument> = {
        ...owned(tenant, seen._id),
        status: "active",
        run_seq: seen.run_seq,
        frequency: seen.frequency,
        next_run_at: seen.next_run_at,
        claimable_at: seen.claimable_at,
      };
      const { run_seq, last_due_at, next_run_at, claimable_at, open_run } = monitor;
      const schedule = { run_seq, last_due_at, next_run_at, claimable_at, open_run };
      const replaced = await monitors.updateOne(unchanged, { $set: schedule }, { session });
      return replaced.matchedCount === 1;
    },
    async countEvent(tenant, session, id) {
      const active = { ...owned(tenant, id), status: "active" as const };
      const counted = await monitors.findOneAndUpdate(
        active,
        { $inc: { event_count: 1 } },
        { session, returnDocument: "after" },
      );
      return counted ?? undefined;
    },
    claimable(now, limit) {
      return monitors
        .find({ status: "active", claimable_at: { $lte: now } })
        .sort({ claimable_at: 1 })
        .limit(limit)
        .toArray();
    },
  };
}
