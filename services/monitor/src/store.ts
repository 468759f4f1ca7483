import type { Check, CheckStatus } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { type Cap, type CapDocument, createCap, findPage, type Page } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import type { ClientSession, Db, Filter } from "mongodb";
import { frequencies } from "./model/frequency.ts";
import type { EventDocument, MonitorDocument, RunDocument } from "./model/monitor.ts";
import { isOfAnswers } from "./model/next-run.ts";
import type { SweepPosition } from "./model/position.ts";
import { countOptions, type UnansweredCause, unansweredAt } from "./model/unanswered.ts";

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

/** When the scheduler serves an organization next. */
interface OrganizationLeaseDocument {
  /** The organization's id. */
  readonly _id: string;
  readonly next_turn_at: Date;
  /** The lease that set `next_turn_at`. */
  readonly turn_id: string;
}

const ABSENT = { $exists: false } as const;

/** Returns a handler that resolves a transaction refused as unavailable to `value`: a later round repeats its work. */
export function ifUnavailable<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof ServiceError && error.code === "service_unavailable") return value;
    throw error;
  };
}

/** Filter of the index of monitors by entity. Every query contains it, so that the index is used. */
export const watchesRegistration = { status: "active", checks: "sam_registration" } as const;

/** Matches monitors whose runs by the schedule are real ones, for indexes in which those that are swept come after all of them. */
const UNSWEPT = { "standing.offset_ms": ABSENT } as const;

/** Returns `claimableAt` of model/next-run.ts as an expression: a missing value does not count. */
export function claimableIn(runTimeoutMs: number) {
  const extra = { $min: ["$first_run_at", "$expiry_run_at", "$exclusion_run_at", "$file_run.at"] };
  const due = { $min: ["$next_run_at", { $cond: ["$extras_wait", null, extra] }] };
  return { $max: [due, { $add: ["$open_run.claimed_at", runTimeoutMs] }] };
}

/** Returns an expression: `value` if there is a value at `path`, else `otherwise`. A missing value stays missing. */
function ifSet(path: string, value: object, otherwise = path) {
  return { $cond: [{ $gt: [path, null] }, value, otherwise] };
}

/** Returns the collections of one environment; the migration creates them. */
export function collections(db: Db) {
  return {
    monitors: db.collection<MonitorDocument>("monitors"),
    runs: db.collection<RunDocument>("runs"),
    events: db.collection<EventDocument>("monitor_events"),
    /** Number of active monitors per organization. */
    counts: db.collection<CapDocument>("monitor_counts"),
    eventPositions: db.collection<EventPositionDocument>("event_positions"),
    eventWaits: db.collection<EventWaitsDocument>("event_waits"),
    organizationLeases: db.collection<OrganizationLeaseDocument>("schedule_turns"),
    /** How far the scheduled checks of standing monitors were made, by frequency. */
    sweepPositions: db.collection<SweepPosition>("sweep_positions"),
  };
}

export interface MonitorFilter {
  readonly status: MonitorDocument["status"];
  /** Empty: monitors of all entities. */
  readonly entityId: string;
  /** Empty: monitors with any number, or none. */
  readonly externalId: string;
  /** Outcome of the last ended run; undefined: any. */
  readonly lastOutcome: CheckStatus | undefined;
  /** Only monitors that are unanswered at this time (unanswered.ts); undefined: all. */
  readonly unansweredAt: Date | undefined;
}

export type MonitorStore = ReturnType<typeof createMonitorStore>;

/** The monitors of one environment. */
export function createMonitorStore(db: Db) {
  const { monitors, counts } = collections(db);
  const cap = createCap({
    counters: counts,
    count: (organizationId) => monitors.countDocuments({ organization_id: organizationId, status: "active" }),
  });
  const owned = (tenant: Tenant, id: string) => ({ _id: id, organization_id: tenant.organizationId });
  const active = (tenant: Tenant, id: string) => ({ ...owned(tenant, id), status: "active" as const });
  return {
    /** Returns the number of active monitors that count against the cap. */
    activeMonitors: ({ organizationId }: Tenant): Promise<number> => cap.active(organizationId),

    /** Reserves a place under the cap, then calls `create`. Errors: see `Cap`. */
    withinCap: <T>({ organizationId }: Tenant, limit: Parameters<Cap["within"]>[1], create: () => Promise<T>) =>
      cap.within(organizationId, limit, create),

    /** Stores new monitors, each for its own tenant. */
    async insert(
      session: ClientSession,
      created: readonly { readonly tenant: Tenant; readonly monitor: MonitorDocument }[],
    ): Promise<void> {
      const documents = created.map(({ tenant, monitor }) => ({ ...monitor, organization_id: tenant.organizationId }));
      const [first, ...others] = documents;
      // The driver says which index refused an insert only for a single one.
      if (first && others.length === 0) await monitors.insertOne(first, { session });
      else await monitors.insertMany(documents, { session });
    },

    /** Returns a monitor of any status. */
    async find(tenant: Tenant, id: string, session?: ClientSession): Promise<MonitorDocument | undefined> {
      return (await monitors.findOne(owned(tenant, id), { session })) ?? undefined;
    },

    /** Returns the oldest active monitor of the same entity, checks and URL. */
    async findSame(
      { organizationId }: Tenant,
      { entityId, checks, webhookUrl }: { entityId: string; checks: readonly Check[]; webhookUrl: string | undefined },
    ): Promise<MonitorDocument | undefined> {
      const same: Filter<MonitorDocument> = {
        organization_id: organizationId,
        entity_id: entityId,
        status: "active",
        checks: { $all: checks, $size: checks.length },
        webhook_url: webhookUrl ?? ABSENT,
      };
      return (await monitors.findOne(same, { sort: { created_at: 1, _id: 1 } })) ?? undefined;
    },

    /** Returns the monitors that match the filter, newest first. */
    list(tenant: Tenant, filter: MonitorFilter, page: PageRequest | undefined): Promise<Page<MonitorDocument>> {
      const { status, entityId, externalId, lastOutcome, unansweredAt: at } = filter;
      const query: Filter<MonitorDocument> = {
        organization_id: tenant.organizationId,
        status,
        ...(entityId && { entity_id: entityId }),
        ...(externalId && { external_id: externalId }),
        ...(lastOutcome && { "last_run.outcome": lastOutcome }),
        ...(at && unansweredAt(at)),
      };
      return findPage(monitors, query, page);
    },

    /** Frees the monitor's place once `cancel` has canceled it; returns its result. */
    freeing: <T>({ organizationId }: Tenant, cancel: () => Promise<T | undefined>) =>
      cap.freeing(organizationId, cancel),

    /** Replaces a monitor that was read in the same transaction. */
    async replace(tenant: Tenant, session: ClientSession, monitor: MonitorDocument): Promise<void> {
      await monitors.replaceOne(owned(tenant, monitor._id), monitor, { session });
    },

    /**
     * Replaces the schedules of monitors that still have the schedule in `seen`. Returns how many they were: others were
     * claimed, canceled or rescheduled since.
     */
    async replaceScheduled(
      tenant: Tenant,
      session: ClientSession,
      changes: readonly { readonly seen: MonitorDocument; readonly next: MonitorDocument }[],
    ): Promise<number> {
      const updates = changes.map(({ seen, next }) => {
        const filter: Filter<MonitorDocument> = {
          ...active(tenant, seen._id),
          run_seq: seen.run_seq,
          frequency: seen.frequency,
          next_run_at: seen.next_run_at,
          claimable_at: seen.claimable_at,
          // A run that ended meanwhile must not come back, and an extra run that was added meanwhile must not be lost.
          "open_run.run_seq": seen.open_run?.run_seq ?? ABSENT,
          expiry_run_at: seen.expiry_run_at ?? ABSENT,
          exclusion_run_at: seen.exclusion_run_at ?? ABSENT,
          "file_run.changed_at": seen.file_run?.changed_at ?? ABSENT,
          "file_run.answered_at": seen.file_run?.answered_at ?? ABSENT,
        };
        const { run_seq, last_due_at, next_run_at, claimable_at, open_run } = next;
        const $set = { run_seq, last_due_at, next_run_at, claimable_at, open_run };
        const { first_run_at, expiry_run_at, exclusion_run_at, file_run, extras_wait } = next;
        const extras = { first_run_at, expiry_run_at, exclusion_run_at, file_run, extras_wait };
        const absent = Object.entries(extras).flatMap(([name, value]) => (value === undefined ? [[name, true]] : []));
        const $unset = { ...Object.fromEntries(absent), standing: true as const };
        return { updateOne: { filter, update: { $set: { ...$set, ...extras }, $unset } } };
      });
      return (await monitors.bulkWrite(updates, { session, ordered: false })).matchedCount;
    },

    /**
     * Increments the event count of an active monitor. Returns undefined if it is canceled, does not exist, or its events
     * of this run were removed.
     */
    async countEvent(
      tenant: Tenant,
      session: ClientSession,
      { id, runSeq }: { id: string; runSeq: number },
    ): Promise<MonitorDocument | undefined> {
      const options = { session, returnDocument: "after" } as const;
      const counted = { ...active(tenant, id), events_removed_to: { $not: { $gte: runSeq } } };
      return (await monitors.findOneAndUpdate(counted, { $inc: { event_count: 1 } }, options)) ?? undefined;
    },

    /**
     * Counts the unanswered active monitors of all organizations that are not suspended, by cause. Only for operators.
     */
    async countUnanswered(now: Date, suspended: readonly string[]): Promise<Record<UnansweredCause, number>> {
      const running = { status: "active" as const, organization_id: { $nin: suspended } };
      const of = (lacksInput: boolean) =>
        monitors.countDocuments({ ...unansweredAt(now), ...running, "erring.lacks_input": lacksInput }, countOptions);
      const [input, source] = await Promise.all([of(true), of(false)]);
      return { input, source };
    },

    /**
     * Returns monitors of an organization whose next run may be claimed, longest waiting first, without the excluded ones.
     * A monitor with a frequency that only a newer version knows waits for a replica of that version.
     */
    claimable(tenant: Tenant, now: Date, limit: number, excluded: readonly string[]): Promise<MonitorDocument[]> {
      const waiting: Filter<MonitorDocument> = {
        organization_id: tenant.organizationId,
        ...UNSWEPT,
        claimable_at: { $lte: now },
        frequency: { $in: [...frequencies] },
        _id: { $nin: [...excluded] },
      };
      return monitors.find(waiting).sort({ claimable_at: 1 }).limit(limit).toArray();
    },

    /**
     * Returns the organizations of the monitors whose next run may be claimed: of the longest waiting ones, and whether
     * there are more than these. Costs the same for any number of monitors. Only for the scheduler.
     */
    async longestWaiting(now: Date, limit: number): Promise<{ organizations: string[]; more: boolean }> {
      const waiting = await monitors
        .find({ status: "active", ...UNSWEPT, claimable_at: { $lte: now } })
        .project<Pick<MonitorDocument, "organization_id">>({ organization_id: 1 })
        .sort({ claimable_at: 1 })
        .limit(limit)
        .toArray();
      const organizations = new Set(waiting.map(({ organization_id }) => organization_id));
      return { organizations: [...organizations], more: waiting.length === limit };
    },

    /** Returns since when the longest waiting monitor of all organizations may be claimed; undefined if none may. */
    async oldestDueAt(now: Date): Promise<Date | undefined> {
      const [oldest] = await monitors
        .find({ status: "active", ...UNSWEPT, claimable_at: { $lte: now } }, { maxTimeMS: countOptions.maxTimeMS })
        .project<Pick<MonitorDocument, "claimable_at">>({ claimable_at: 1, _id: 0 })
        .sort({ claimable_at: 1 })
        .limit(1)
        .toArray();
      return oldest?.claimable_at;
    },

    /**
     * Yields all organizations that have a monitor whose next run may be claimed, beginning after a given one. Each costs a
     * command, however many monitors it has: an index can't list organizations by an absent field. Only for the scheduler.
     */
    async *allWaiting(now: Date, after: string): AsyncGenerator<string> {
      const ranges: Filter<MonitorDocument>["organization_id"][] = [{ $gt: after }, { $gt: "", $lte: after }];
      for (let range = ranges.shift(); range; ) {
        const next = await monitors.findOne(
          { organization_id: range, ...UNSWEPT, claimable_at: { $lte: now } },
          { projection: { organization_id: 1 }, sort: { organization_id: 1 } },
        );
        if (next) yield next.organization_id;
        range = next ? { ...(range as object), $gt: next.organization_id } : ranges.shift();
      }
    },

    /**
     * Gives monitors of all organizations an extra run after a file changed their vendors, at a random time within
     * `spreadMs` from now on. Only active monitors with sam_registration that have had none for this file or a newer one, so
     * that repeating it has no effect. Answers of SAM.gov, whose times another clock gives, are compared with each other only. A
     * run that was claimed since the load does not count, because the two clocks may differ. Returns the number of monitors. Only for records of a load.
     */
    async addFileRuns(
      load: { readonly loadId: string; readonly changedAt: Date; readonly entityIds: readonly string[] },
      { now, spreadMs, runTimeoutMs }: { now: Date; spreadMs: number; runTimeoutMs: number },
    ): Promise<number> {
      const { loadId, changedAt, entityIds } = load;
      const noted = isOfAnswers(loadId) ? "answered_at" : "changed_at";
      const concerned: Filter<MonitorDocument> = {
        entity_id: { $in: [...entityIds] },
        ...watchesRegistration,
        [`file_run.${noted}`]: { $not: { $gte: changedAt } },
      };
      const spread = { $add: [now, { $floor: { $multiply: [{ $rand: {} }, spreadMs] } }] };
      // An extra run that is due for an earlier file also sees this one.
      const at = { $min: ["$file_run.at", spread] };
      const stands = { $mergeObjects: ["$standing", { until: { $min: ["$standing.until", "$file_run.at"] } }] };
      const update = [
        { $set: { file_run: { load_id: { $literal: loadId }, [noted]: changedAt, at } } },
        {
          $set: {
            claimable_at: claimableIn(runTimeoutMs),
            standing: ifSet("$standing.offset_ms", stands, "$standing"),
          },
        },
      ];
      return (await monitors.updateMany(concerned, update)).matchedCount;
    },

    /**
     * Makes the extra runs due now that waited for the end of a suspension, of all organizations but the suspended ones.
     * Returns the number of monitors.
     */
    async resumeExtras(suspended: readonly string[], options: { now: Date; runTimeoutMs: number }): Promise<number> {
      const begun = (path: string) => ifSet(path, { $max: [path, options.now] });
      const file_run = { $mergeObjects: ["$file_run", { at: begun("$file_run.at") }] };
      const update = [
        {
          $set: {
            first_run_at: begun("$first_run_at"),
            expiry_run_at: begun("$expiry_run_at"),
            exclusion_run_at: begun("$exclusion_run_at"),
            file_run: ifSet("$file_run", file_run),
          },
        },
        { $unset: "extras_wait" },
        { $set: { claimable_at: claimableIn(options.runTimeoutMs) } },
      ];
      const waiting = { extras_wait: true as const, organization_id: { $nin: [...suspended] } };
      return (await monitors.updateMany(waiting, update)).modifiedCount;
    },
  };
}
