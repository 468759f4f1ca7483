import { randomUUID } from "node:crypto";
import {
  type AnyBulkWriteOperation,
  type Db,
  type Document,
  type Filter,
  MongoBulkWriteError,
  type UpdateFilter,
} from "mongodb";
import type { Attempt, Delivery } from "./delivery.ts";
import type { Outcome } from "./outcome.ts";

const DUPLICATE_KEY = 11_000;

/** As much of a delivery as decides whether it is attempted now. */
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

/** The first event of a monitor whose first attempt is owed: the later ones wait for it. */
export interface LaneHead {
  /** mon_…. */
  readonly _id: string;
  readonly delivery_id: string;
  /** Null: nobody has told it that it is the first. */
  readonly next_attempt_at: Date | null;
}

/** The deliveries to one endpoint that are held back. */
export interface HeldEndpoint {
  readonly _id: string;
  readonly organization_id: string;
  readonly url: string;
  readonly count: number;
  /** When the first of them is made at the latest. */
  readonly first_attempt_at: Date;
}

/** A delivery put off, by whoever has it in hand. */
export interface Release {
  readonly delivery: Delivery;
  /** Null: it waits for the first attempt of an earlier event of its monitor. */
  readonly nextAttemptAt: Date | null;
  readonly held: boolean;
}

/** An attempt that was made, and what follows from it. */
export interface Made {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
  readonly outcome: Outcome;
}

/**
 * Deliveries of one environment, for the engine: it works for all organizations at once, and finds what is due whoever's
 * it is. What changes a delivery that somebody has in hand matches on their lease.
 */
export interface DeliveryStore {
  /** Takes events over for delivery; returns the ids of those that had been taken over before, which stay as they are. */
  insert(deliveries: readonly Delivery[]): Promise<ReadonlySet<string>>;
  /** The first event of each monitor (all of them where none are named) that is owed its first attempt. */
  laneHeads(monitorIds?: readonly string[]): Promise<LaneHead[]>;
  /** These are the first of their monitors now, and due. */
  unblock(deliveryIds: readonly string[], now: Date): Promise<void>;
  /** What is to be attempted now, longest due first; leases that ended without a record among them. */
  due(now: Date, limit: number): Promise<Candidate[]>;
  /** What is held back for an endpoint, longest due first. */
  held(endpointId: string, limit: number): Promise<Candidate[]>;
  /** The endpoints for which something is held back. */
  heldEndpoints(): Promise<HeldEndpoint[]>;
  /** Leases those that are still due or held; returns them. */
  claim(candidates: readonly Candidate[], options: { now: Date; leaseUntil: Date }): Promise<Delivery[]>;
  /** Puts candidates off that nobody has in hand. */
  defer(put: readonly { candidate: Candidate; nextAttemptAt: Date | null; held: boolean }[]): Promise<void>;
  /** Gives back what was leased, without an attempt. */
  release(releases: readonly Release[]): Promise<void>;
  /** Keeps attempts and what follows; false for those whose lease was lost meanwhile to another who makes them again. */
  record(made: readonly Made[]): Promise<boolean[]>;
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

  const inHand = ({ _id, organization_id, lease }: Delivery) => ({ _id, organization_id, lease: lease! });

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

    laneHeads: (monitorIds) =>
      deliveries
        .aggregate<LaneHead>([
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
        .aggregate<HeldEndpoint>([
          { $match: { held: true } },
          {
            $group: {
              _id: "$endpoint_id",
              organization_id: { $first: "$organization_id" },
              url: { $first: "$webhook_url" },
              count: { $sum: 1 },
              first_attempt_at: { $min: "$next_attempt_at" },
            },
          },
        ])
        .toArray(),

    async claim(candidates, { now, leaseUntil }) {
      if (candidates.length === 0) return [];
      const lease = randomUUID();
      const named: Filter<Delivery> = { _id: { $in: candidates.map(({ _id }) => _id) } };
      await deliveries.updateMany(
        { ...named, status: "pending", $or: [{ held: true }, { next_attempt_at: { $lte: now } }] },
        { $set: { lease, next_attempt_at: leaseUntil }, $unset: { held: "" } },
      );
      return deliveries.find({ ...named, lease }).toArray();
    },

    async defer(put) {
      await bulk(
        put.map(({ candidate: { _id, organization_id, next_attempt_at }, nextAttemptAt, held }) => ({
          updateOne: {
            filter: { _id, organization_id, status: "pending", next_attempt_at },
            update: putOff(nextAttemptAt, held),
          },
        })),
      );
    },

    async release(releases) {
      await bulk(
        releases.map(({ delivery, nextAttemptAt, held }) => ({
          updateOne: { filter: inHand(delivery), update: putOff(nextAttemptAt, held) },
        })),
      );
    },

    async record(made) {
      // One update of many costs the store a third of many updates of one. What was claimed together shares a lease.
      const byLease = Map.groupBy(made, ({ delivery }) => delivery.lease!);
      const matchedCount = await bulk(
        [...byLease].map(([lease, some]) => {
          const ids = some.map(({ delivery }) => delivery._id);
          const filter = { _id: { $in: ids }, lease };
          return { updateMany: { filter, update: afterAttempts(ids, some), hint: { _id: 1 } } };
        }),
      );
      if (matchedCount === made.length) return made.map(() => true);
      // The driver tells how many were found, not which.
      const found = await deliveries
        .find({ _id: { $in: made.map(({ delivery }) => delivery._id) } }, { projection: { "attempts.started_at": 1 } })
        .toArray();
      const lastStart = new Map(found.map(({ _id, attempts }) => [_id, attempts.map(({ started_at }) => +started_at)]));
      return made.map(({ delivery, attempt }) => !!lastStart.get(delivery._id)?.includes(+attempt.started_at));
    },
  };
}

function putOff(nextAttemptAt: Date | null, held: boolean): UpdateFilter<Delivery> {
  return held
    ? { $set: { next_attempt_at: nextAttemptAt, held: true }, $unset: { lease: "" } }
    : { $set: { next_attempt_at: nextAttemptAt }, $unset: { lease: "", held: "" } };
}

/** Gives each delivery what is its own, by its place in the list. */
function afterAttempts(ids: readonly string[], made: readonly Made[]): Document[] {
  const own = made.map(({ attempt, outcome }) => ({
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
