import type { CheckStatus } from "@vvs/checks";
import { type Cap, type CapDocument, createCap, findPage, type Page } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import type { ClientSession, Collection, Db, Filter, UpdateFilter } from "mongodb";
import type { EventDocument, MonitorDocument, RunDocument } from "./monitors/monitor.ts";
import { type CountUnanswered, countOptions, unansweredAt } from "./monitors/unanswered.ts";

/** The highest event position of an organization. */
interface EventPositionDocument {
  readonly _id: string;
  readonly last: number;
}

/** The calls that wait for the next event of an organization, each with the time at which its place becomes free. */
interface EventWaitsDocument {
  readonly _id: string;
  readonly places: readonly { readonly id: string; readonly until: Date }[];
}

/** Returns the collections of one environment; the migration creates them. */
export function collections(db: Db): {
  monitors: Collection<MonitorDocument>;
  runs: Collection<RunDocument>;
  events: Collection<EventDocument>;
  /** Number of active monitors per organization. */
  counts: Collection<CapDocument>;
  eventPositions: Collection<EventPositionDocument>;
  eventWaits: Collection<EventWaitsDocument>;
} {
  return {
    monitors: db.collection<MonitorDocument>("monitors"),
    runs: db.collection<RunDocument>("runs"),
    events: db.collection<EventDocument>("monitor_events"),
    counts: db.collection<CapDocument>("monitor_counts"),
    eventPositions: db.collection<EventPositionDocument>("event_positions"),
    eventWaits: db.collection<EventWaitsDocument>("event_waits"),
  };
}

export interface MonitorFilter {
  readonly status: MonitorDocument["status"];
  /** Empty: monitors of all entities. */
  readonly entityId: string;
  /** Outcome of the last ended run; undefined: any. */
  readonly lastOutcome: CheckStatus | undefined;
  /** Only monitors that are unanswered at this time (unanswered.ts); undefined: all. */
  readonly unansweredAt: Date | undefined;
}

export interface MonitorStore {
  /** Returns the number of active monitors that count against the cap. */
  activeMonitors(tenant: Tenant): Promise<number>;
  /** Reserves a place under the cap, then calls `create`. Errors: see `Cap`. */
  withinCap<T>(tenant: Tenant, limit: Parameters<Cap["within"]>[1], create: () => Promise<T>): Promise<T>;
  /** Stores new monitors, each for its own tenant. */
  insert(
    session: ClientSession,
    created: readonly { readonly tenant: Tenant; readonly monitor: MonitorDocument }[],
  ): Promise<void>;
  /** Returns a monitor of any status. */
  find(tenant: Tenant, id: string, session?: ClientSession): Promise<MonitorDocument | undefined>;
  /** Returns the monitors that match the filter, newest first. */
  list(tenant: Tenant, filter: MonitorFilter, page: PageRequest | undefined): Promise<Page<MonitorDocument>>;
  /** Cancels a monitor and frees its place. Returns undefined if it is already canceled or does not exist. */
  cancel(tenant: Tenant, id: string, at: Date): Promise<MonitorDocument | undefined>;
  /** Replaces a monitor that was read in the same transaction. */
  replace(tenant: Tenant, session: ClientSession, monitor: MonitorDocument): Promise<void>;
  /**
   * Replaces the schedule of a monitor if it is still the one in `seen`. Returns false if the monitor was claimed,
   * canceled or rescheduled since.
   */
  replaceScheduled(
    tenant: Tenant,
    session: ClientSession,
    seen: MonitorDocument,
    monitor: MonitorDocument,
  ): Promise<boolean>;
  /** Increments the event count of an active monitor. Returns undefined if it is canceled or does not exist. */
  countEvent(tenant: Tenant, session: ClientSession, id: string): Promise<MonitorDocument | undefined>;
  readonly countUnanswered: CountUnanswered;
  /** Returns monitors of all organizations whose next run may be claimed, longest waiting first. Only for the scheduler. */
  claimable(now: Date, limit: number): Promise<MonitorDocument[]>;
}

export function createMonitorStore(db: Db): MonitorStore {
  const { monitors, counts } = collections(db);
  const cap = createCap({
    counters: counts,
    count: (organizationId) => monitors.countDocuments({ organization_id: organizationId, status: "active" }),
  });
  const owned = (tenant: Tenant, id: string) => ({ _id: id, organization_id: tenant.organizationId });
  return {
    activeMonitors: (tenant) => cap.active(tenant.organizationId),
    withinCap: (tenant, limit, create) => cap.within(tenant.organizationId, limit, create),
    async insert(session, created) {
      const documents = created.map(({ tenant, monitor }) => ({ ...monitor, organization_id: tenant.organizationId }));
      await monitors.insertMany(documents, { session });
    },
    async find(tenant, id, session) {
      return (await monitors.findOne(owned(tenant, id), { session })) ?? undefined;
    },
    list(tenant, { status, entityId, lastOutcome, unansweredAt: at }, page) {
      const filter: Filter<MonitorDocument> = {
        organization_id: tenant.organizationId,
        status,
        ...(entityId && { entity_id: entityId }),
        ...(lastOutcome && { "last_run.outcome": lastOutcome }),
        ...(at && unansweredAt(at)),
      };
      return findPage(monitors, filter, page);
    },
    cancel(tenant, id, at) {
      // One document, so no transaction is needed: the write waits for a claim in progress.
      const active = { ...owned(tenant, id), status: "active" as const };
      const change: UpdateFilter<MonitorDocument> = {
        $set: { status: "canceled", canceled_at: at },
        $unset: { next_run_at: true, claimable_at: true },
      };
      return cap.freeing(
        tenant.organizationId,
        async () => (await monitors.findOneAndUpdate(active, change, { returnDocument: "after" })) ?? undefined,
      );
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
        // A run that ended meanwhile must not come back.
        ...(seen.open_run ? { "open_run.run_seq": seen.open_run.run_seq } : { open_run: { $exists: false } }),
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
    async countUnanswered(now, suspended) {
      const running = { status: "active" as const, organization_id: { $nin: suspended } };
      const of = (lacksInput: boolean) =>
        monitors.countDocuments({ ...unansweredAt(now), ...running, "erring.lacks_input": lacksInput }, countOptions);
      const [input, source] = await Promise.all([of(true), of(false)]);
      return { input, source };
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
