import { randomUUID } from "node:crypto";
import { valueById } from "@vvs/mongo";
import {
  type AnyBulkWriteOperation,
  type Db,
  type Document,
  type Filter,
  MongoBulkWriteError,
  type UpdateFilter,
} from "mongodb";
import type { EndpointIdentity } from "../endpoints/endpoint.ts";
import type { Delivery } from "../model/delivery.ts";
import type { AttemptResult } from "../model/retry-schedule.ts";

const DUPLICATE_KEY = 11_000;

/** By another index, MongoDB would walk over the deliveries that left it in the last five minutes. */
const BY_ID = { hint: { _id: 1 } } as const;

/** A delivery without its large fields, which do not decide whether it is attempted now. */
export type Candidate = Omit<Delivery, "attempts" | "changes" | "trace" | "replays">;
const CANDIDATE = { attempts: 0, changes: 0, trace: 0, replays: 0 } as const;

/** The first event of a monitor that is owed its first attempt: the later ones wait for it. */
export type MonitorHead = Pick<Delivery, "_id" | "monitor_id" | "next_attempt_at">;
const MONITOR_HEAD = { _id: "$_id", monitor_id: "$monitor_id", next_attempt_at: "$next_attempt_at" };

/** A leased or due delivery that is put back into the store without an attempt. */
export interface Postponement {
  readonly delivery: Candidate;
  /** Null: it is blocked by an earlier event of its monitor. */
  readonly nextAttemptAt: Date | null;
  readonly held: boolean;
}

/** Returns a delivery's postponement until an earlier event of its monitor has had its first attempt. */
export const blocked = (delivery: Candidate): Postponement => ({ delivery, nextAttemptAt: null, held: false });

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

/**
 * Deliveries of one environment, for the engine, which works for all organizations together. Changes to a leased
 * delivery match on its lease, so only the holder makes them.
 */
export function createDeliveryStore({ db }: { db: Db }) {
  const deliveries = db.collection<Delivery>("deliveries");

  async function bulk(operations: AnyBulkWriteOperation<Delivery>[]): Promise<number> {
    if (operations.length === 0) return 0;
    return (await deliveries.bulkWrite(operations, { ordered: false })).matchedCount;
  }

  /** Returns matching deliveries, longest due first. */
  const candidates = (filter: Filter<Delivery>, limit: number): Promise<Candidate[]> =>
    deliveries.find(filter).project<Candidate>(CANDIDATE).sort({ next_attempt_at: 1 }).limit(limit).toArray();

  return {
    /** Stores new deliveries. Returns the ids of those that were stored before, which stay as they are. */
    async insert(added: readonly Delivery[]): Promise<ReadonlySet<string>> {
      try {
        await deliveries.insertMany(added, { ordered: false });
        return new Set();
      } catch (error) {
        if (!(error instanceof MongoBulkWriteError)) throw error;
        const failures = [error.writeErrors].flat();
        if (error.result.getWriteConcernError() || failures.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
        return new Set(failures.map(({ index }) => added[index]!._id));
      }
    },

    /** Returns the first event owed its first attempt, of each of these monitors. */
    monitorHeads: (monitorIds: readonly string[]): Promise<MonitorHead[]> =>
      deliveries
        .aggregate<MonitorHead>([
          { $match: { first_attempt_owed: true, monitor_id: { $in: monitorIds } } },
          { $sort: { monitor_id: 1, run_seq: 1 } },
          { $group: { _id: "$monitor_id", first: { $first: MONITOR_HEAD } } },
          { $replaceWith: "$first" },
        ])
        .toArray(),

    /** Returns the monitors with blocked events. */
    async blockedMonitors(): Promise<string[]> {
      const blocked = { status: "pending", next_attempt_at: null };
      const found = deliveries.aggregate<{ _id: string }>([{ $match: blocked }, { $group: { _id: "$monitor_id" } }]);
      return (await found.toArray()).map(({ _id }) => _id);
    },

    /** Makes these deliveries due, if they are blocked: they are the first of their monitors now. */
    async unblock(ids: readonly string[], now: Date): Promise<void> {
      await deliveries.updateMany(
        { _id: { $in: ids }, first_attempt_owed: true, next_attempt_at: null },
        { $set: { next_attempt_at: now, due_at: now } },
        BY_ID,
      );
    },

    /** Returns the deliveries to be attempted now, expired leases included: all, or only those that became due since a time. */
    due: (now: Date, limit: number, since = new Date(0)) =>
      candidates({ status: "pending", next_attempt_at: { $gte: since, $lte: now } }, limit),

    /** Returns the held deliveries to an endpoint. */
    held: (endpointId: string, limit: number) => candidates({ held: true, endpoint_id: endpointId }, limit),

    /** Returns the endpoints for which deliveries are held. */
    heldEndpoints(): Promise<EndpointIdentity[]> {
      const [organization_id, url] = [{ $first: "$organization_id" }, { $first: "$webhook_url" }];
      return deliveries
        .aggregate<EndpointIdentity>([
          { $match: { held: true } },
          { $group: { _id: "$endpoint_id", organization_id, url } },
        ])
        .toArray();
    },

    /** Leases those that are still due or held, and returns them. */
    async claim(
      wanted: readonly Candidate[],
      { now, leaseUntil }: { now: Date; leaseUntil: Date },
    ): Promise<Delivery[]> {
      if (wanted.length === 0) return [];
      const lease = randomUUID();
      const byIds: Filter<Delivery> = { _id: { $in: wanted.map(({ _id }) => _id) } };
      const isDue: Filter<Delivery> = { $or: [{ held: true }, { next_attempt_at: { $lte: now } }] };
      await deliveries.updateMany(
        { ...byIds, ...isDue, status: "pending", url_removed: { $ne: true } },
        { $set: { lease, next_attempt_at: leaseUntil }, $unset: { held: "" } },
        BY_ID,
      );
      return deliveries.find({ ...byIds, lease }).toArray();
    },

    /** Postpones deliveries, unless another replica has leased them since they were read or leased here. */
    async postpone(postponements: readonly Postponement[]): Promise<void> {
      await bulk(
        postponements.map(({ delivery, nextAttemptAt, held }) => {
          const { _id, organization_id, lease, next_attempt_at } = delivery;
          const filter = { _id, organization_id, status: "pending" as const, next_attempt_at, ...(lease && { lease }) };
          const update: UpdateFilter<Delivery> = held
            ? { $set: { next_attempt_at: nextAttemptAt, held }, $unset: { lease: "" } }
            : { $set: { next_attempt_at: nextAttemptAt }, $unset: { lease: "", held: "" } };
          return { updateOne: { filter, update } };
        }),
      );
    },

    /**
     * Records attempts. A delivery that is done by an attempt at an older URL of its monitor is due again. Returns false for those whose lease another
     * replica has by now: it repeats the attempt.
     */
    async record(results: readonly AttemptResult[]): Promise<boolean[]> {
      // One update of many costs the store a third of many updates of one. Deliveries claimed together share a lease.
      const grouped = Map.groupBy(results, ({ delivery }) => delivery.lease!);
      const matchedCount = await bulk(
        [...grouped].map(([lease, some]) => {
          const ids = some.map(({ delivery }) => delivery._id);
          const filter = { _id: { $in: ids }, lease };
          return { updateMany: { filter, update: afterAttempts(ids, some), ...BY_ID } };
        }),
      );
      if (matchedCount === results.length) return results.map(() => true);
      // The driver returns how many deliveries matched, not which.
      const ids = results.map(({ delivery }) => delivery._id);
      const found = await deliveries
        .find({ _id: { $in: ids } }, { projection: { "attempts.started_at": 1 } })
        .toArray();
      const startsOf = new Map(found.map(({ _id, attempts }) => [_id, attempts.map(({ started_at }) => +started_at)]));
      return results.map(({ delivery, attempt }) => !!startsOf.get(delivery._id)?.includes(+attempt.started_at));
    },
  };
}

/** Gives each delivery its own result, by its position in the list. */
function afterAttempts(ids: readonly string[], results: readonly AttemptResult[]): Document[] {
  const own = results.map(({ delivery, attempt, outcome }) => ({
    attempt,
    status: outcome.status,
    next: outcome.status === "pending" ? outcome.nextAttemptAt : null,
    url: delivery.webhook_url,
  }));
  const again = { status: "pending", next: { $add: ["$own.attempt.started_at", "$own.attempt.duration_ms"] } };
  const isElsewhere = { $and: [{ $ne: ["$own.status", "pending"] }, { $ne: ["$own.url", "$webhook_url"] }] };
  return [
    { $set: { own: valueById(ids, own) } },
    { $set: { own: { $cond: [isElsewhere, { $mergeObjects: ["$own", again] }, "$own"] } } },
    {
      $set: {
        attempts: { $concatArrays: ["$attempts", ["$own.attempt"]] },
        status: "$own.status",
        next_attempt_at: "$own.next",
        due_at: { $ifNull: ["$own.next", "$due_at"] },
        schedule_step: {
          $cond: [{ $eq: [{ $type: "$schedule_step" }, "missing"] }, "$$REMOVE", { $add: ["$schedule_step", 1] }],
        },
      },
    },
    { $unset: ["own", "lease", "first_attempt_owed"] },
  ];
}
