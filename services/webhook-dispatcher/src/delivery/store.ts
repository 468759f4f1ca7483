import { randomUUID } from "node:crypto";
import {
  type AnyBulkWriteOperation,
  type Db,
  type Document,
  type Filter,
  MongoBulkWriteError,
  type UpdateFilter,
} from "mongodb";
import type { Outcome } from "../attempt/outcome.ts";
import type { EndpointIdentity } from "../endpoints/endpoint.ts";
import type { Attempt, Delivery } from "./delivery.ts";

const DUPLICATE_KEY = 11_000;

/** The fields of a delivery that decide whether it is attempted now. */
export type Candidate = Pick<
  Delivery,
  | "_id"
  | "organization_id"
  | "monitor_id"
  | "webhook_url"
  | "endpoint_id"
  | "next_attempt_at"
  | "due_at"
  | "held"
  | "lease"
  | "first_attempt_owed"
  | "test"
>;

/** The first event of a monitor that is owed its first attempt: the later ones wait for it. */
export interface MonitorHead {
  /** mon_…. */
  readonly _id: string;
  readonly delivery_id: string;
  /** Null: it is blocked still, and must be unblocked. */
  readonly next_attempt_at: Date | null;
}

/** When a delivery is due that is not attempted now. */
interface Postponement {
  /** Null: it is blocked by an earlier event of its monitor. */
  readonly nextAttemptAt: Date | null;
  readonly held: boolean;
}

/** A delivery that was due and is postponed instead of leased. */
export interface Deferral extends Postponement {
  readonly candidate: Candidate;
}

/** A leased delivery that is given back without an attempt. */
export interface Release extends Postponement {
  readonly delivery: Delivery;
}

/** An attempt and what follows from it. */
export interface AttemptResult {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
  readonly outcome: Outcome;
}

/**
 * Deliveries of one environment, for the engine, which works for all organizations together. Changes to a leased
 * delivery match on its lease, so only the holder makes them.
 */
export interface DeliveryStore {
  /** Stores new deliveries; returns the ids of those that were stored before, which stay as they are. */
  insert(deliveries: readonly Delivery[]): Promise<ReadonlySet<string>>;
  /** Returns the first event owed its first attempt, of each of these monitors; of all monitors where absent. */
  monitorHeads(monitorIds?: readonly string[]): Promise<MonitorHead[]>;
  /** Makes these blocked deliveries due: they are the first of their monitors now. */
  unblock(deliveryIds: readonly string[], now: Date): Promise<void>;
  /** Returns what is to be attempted now, longest due first, expired leases included. */
  due(now: Date, limit: number): Promise<Candidate[]>;
  /** Returns the held deliveries to an endpoint, longest due first. */
  held(endpointId: string, limit: number): Promise<Candidate[]>;
  /** Returns the endpoints for which deliveries are held. */
  heldEndpoints(): Promise<EndpointIdentity[]>;
  /** Leases those that are still due or held, and returns them. */
  claim(candidates: readonly Candidate[], options: { now: Date; leaseUntil: Date }): Promise<Delivery[]>;
  /** Postpones candidates, unless they were changed since they were read. */
  defer(deferrals: readonly Deferral[]): Promise<void>;
  /** Gives leased deliveries back. */
  release(releases: readonly Release[]): Promise<void>;
  /** Records attempts. Returns false for those whose lease another replica has by now: it repeats the attempt. */
  record(results: readonly AttemptResult[]): Promise<boolean[]>;
}

const CANDIDATE = {
  organization_id: 1,
  monitor_id: 1,
  webhook_url: 1,
  endpoint_id: 1,
  next_attempt_at: 1,
  due_at: 1,
  held: 1,
  lease: 1,
  first_attempt_owed: 1,
  test: 1,
} as const;

export function createDeliveryStore({ db }: { db: Db }): DeliveryStore {
  const deliveries = db.collection<Delivery>("deliveries");

  const byLease = ({ _id, organization_id, lease }: Delivery) => ({ _id, organization_id, lease: lease! });

  async function bulk(operations: AnyBulkWriteOperation<Delivery>[]): Promise<number> {
    if (operations.length === 0) return 0;
    return (await deliveries.bulkWrite(operations, { ordered: false })).matchedCount;
  }

  return {
    async insert(added) {
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

    monitorHeads: (monitorIds) =>
      deliveries
        .aggregate<MonitorHead>([
          { $match: { first_attempt_owed: true, ...(monitorIds && { monitor_id: { $in: monitorIds } }) } },
          { $sort: { monitor_id: 1, run_seq: 1 } },
          {
            $group: {
              _id: "$monitor_id",
              delivery_id: { $first: "$_id" },
              next_attempt_at: { $first: "$next_attempt_at" },
            },
          },
        ])
        .toArray(),

    async unblock(ids, now) {
      await deliveries.updateMany(
        { _id: { $in: ids }, first_attempt_owed: true, next_attempt_at: null },
        { $set: { next_attempt_at: now, due_at: now } },
      );
    },

    due: (now, limit) =>
      deliveries
        .find({ status: "pending", next_attempt_at: { $lte: now } })
        .project<Candidate>(CANDIDATE)
        .sort({ next_attempt_at: 1 })
        .limit(limit)
        .toArray(),

    held: (endpointId, limit) =>
      deliveries
        .find({ held: true, endpoint_id: endpointId })
        .project<Candidate>(CANDIDATE)
        .sort({ next_attempt_at: 1 })
        .limit(limit)
        .toArray(),

    heldEndpoints: () =>
      deliveries
        .aggregate<EndpointIdentity>([
          { $match: { held: true } },
          {
            $group: {
              _id: "$endpoint_id",
              organization_id: { $first: "$organization_id" },
              url: { $first: "$webhook_url" },
            },
          },
        ])
        .toArray(),

    async claim(candidates, { now, leaseUntil }) {
      if (candidates.length === 0) return [];
      const lease = randomUUID();
      const byIds: Filter<Delivery> = { _id: { $in: candidates.map(({ _id }) => _id) } };
      await deliveries.updateMany(
        {
          ...byIds,
          status: "pending",
          url_removed: { $ne: true },
          $or: [{ held: true }, { next_attempt_at: { $lte: now } }],
        },
        { $set: { lease, next_attempt_at: leaseUntil }, $unset: { held: "" } },
      );
      return deliveries.find({ ...byIds, lease }).toArray();
    },

    async defer(deferrals) {
      await bulk(
        deferrals.map(({ candidate: { _id, organization_id, next_attempt_at }, nextAttemptAt, held }) => ({
          updateOne: {
            filter: { _id, organization_id, status: "pending", next_attempt_at },
            update: postponed(nextAttemptAt, held),
          },
        })),
      );
    },

    async release(releases) {
      await bulk(
        releases.map(({ delivery, nextAttemptAt, held }) => ({
          updateOne: { filter: byLease(delivery), update: postponed(nextAttemptAt, held) },
        })),
      );
    },

    async record(results) {
      // One update of many costs the store a third of many updates of one. What was claimed together shares a lease.
      const grouped = Map.groupBy(results, ({ delivery }) => delivery.lease!);
      const matchedCount = await bulk(
        [...grouped].map(([lease, some]) => {
          const ids = some.map(({ delivery }) => delivery._id);
          const filter = { _id: { $in: ids }, lease };
          return { updateMany: { filter, update: afterAttempts(ids, some), hint: { _id: 1 } } };
        }),
      );
      if (matchedCount === results.length) return results.map(() => true);
      // The driver says how many deliveries matched, not which.
      const found = await deliveries
        .find(
          { _id: { $in: results.map(({ delivery }) => delivery._id) } },
          { projection: { "attempts.started_at": 1 } },
        )
        .toArray();
      const startsOf = new Map(found.map(({ _id, attempts }) => [_id, attempts.map(({ started_at }) => +started_at)]));
      return results.map(({ delivery, attempt }) => !!startsOf.get(delivery._id)?.includes(+attempt.started_at));
    },
  };
}

function postponed(nextAttemptAt: Date | null, held: boolean): UpdateFilter<Delivery> {
  return held
    ? { $set: { next_attempt_at: nextAttemptAt, held: true }, $unset: { lease: "" } }
    : { $set: { next_attempt_at: nextAttemptAt }, $unset: { lease: "", held: "" } };
}

/** Gives each delivery its own result, by its position in the list. */
function afterAttempts(ids: readonly string[], results: readonly AttemptResult[]): Document[] {
  const own = results.map(({ attempt, outcome }) => ({
    attempt,
    status: outcome.status,
    next: outcome.status === "pending" ? outcome.nextAttemptAt : null,
  }));
  return [
    { $set: { own: { $arrayElemAt: [{ $literal: own }, { $indexOfArray: [{ $literal: ids }, "$_id"] }] } } },
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
