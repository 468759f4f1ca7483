import type { Tenant } from "@vvs/tenant";
import type { Db, Filter, UpdateFilter } from "mongodb";
import type { Delivery, Replay } from "./delivery.ts";
import { endpointId } from "./endpoint.ts";

/** So often one delivery may be begun again: each time adds up to a schedule's worth of attempts to its document. */
export const MAX_REPLAYS = 100;

/** What came of asking for a replay. */
export type ReplayOutcome = "replayed" | "left" | "replayed_too_often";

export interface Replays {
  /**
   * Begins one of the organization's deliveries again. `left`: an attempt is under way, or the first one waits for that
   * of an earlier event of its monitor, and nothing is changed.
   */
  replay(tenant: Tenant, deliveryId: string, by: Replay): Promise<ReplayOutcome>;
  /** Begins those again that fit, at most so many at once, oldest first. Returns how many were; 0: none is left. */
  replayBatch(tenant: Tenant, filter: FailedFilter, by: Replay & { id: string }, limit: number): Promise<number>;
  /** How many failed ones fit, counted up to a limit. */
  countFailed(tenant: Tenant, filter: FailedFilter, limit: number): Promise<number>;
}

/** Which failed deliveries are meant, of those accepted in this span of time. */
export interface FailedFilter {
  readonly since: Date;
  readonly until: Date;
  readonly monitorId?: string;
  readonly webhookUrl?: string;
}

/** Begins deliveries of one environment again. */
export function createReplays(options: { db: Db }): Replays {
  const deliveries = options.db.collection<Delivery>("deliveries");
  return {
    async replay({ organizationId }, deliveryId, by) {
      const owned = { _id: deliveryId, organization_id: organizationId };
      const { matchedCount } = await deliveries.updateOne(
        {
          ...owned,
          ...notTooOften,
          ...notInHand,
          $or: [{ status: { $ne: "pending" } }, { next_attempt_at: { $ne: null } }],
        },
        begunAgain(by),
      );
      if (matchedCount > 0) return "replayed";
      const exhausted = await deliveries.countDocuments({ ...owned, [LAST_REPLAY]: { $exists: true } });
      return exhausted > 0 ? "replayed_too_often" : "left";
    },

    async replayBatch(tenant, filter, by, limit) {
      const query = { ...failedQuery(tenant, filter), ...notTooOften, ...notInHand, "replays.id": { $ne: by.id } };
      const found = await deliveries
        .find(query, { projection: { _id: 1 } })
        .sort({ created_at: 1, _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      const ids = found.map(({ _id }) => _id);
      await deliveries.updateMany(
        { _id: { $in: ids }, organization_id: tenant.organizationId, status: "failed", ...notInHand },
        begunAgain(by),
      );
      return found.length;
    },

    countFailed: (tenant, filter, limit) =>
      deliveries.countDocuments({ ...failedQuery(tenant, filter), ...notTooOften }, { limit }),
  };
}

const LAST_REPLAY = `replays.${MAX_REPLAYS - 1}`;
const notTooOften: Filter<Delivery> = { [LAST_REPLAY]: { $exists: false } };

const notInHand: Filter<Delivery> = { lease: { $exists: false } };

function failedQuery({ organizationId }: Tenant, { since, until, monitorId, webhookUrl }: FailedFilter) {
  return {
    organization_id: organizationId,
    status: "failed",
    test: { $ne: true },
    created_at: { $gte: since, $lte: until },
    ...(monitorId && { monitor_id: monitorId }),
    ...(webhookUrl && { endpoint_id: endpointId(organizationId, webhookUrl) }),
  } satisfies Filter<Delivery>;
}

/** Due now, with the schedule and its 24 h from the beginning; attempts and the event's id stay. */
function begunAgain(by: Replay): UpdateFilter<Delivery> {
  return {
    $set: { status: "pending", next_attempt_at: by.at, due_at: by.at, window_started_at: by.at, schedule_step: 0 },
    $unset: { held: "" },
    $push: { replays: by },
  };
}
