import { afterEffect } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import type { Db, Filter, UpdateFilter } from "mongodb";
import { createMonitorUrls } from "../delivery/monitor-urls.ts";
import { endpointId } from "../endpoints/endpoint.ts";
import type { Delivery, Replay } from "../model/delivery.ts";

/** Maximum number of replays of one delivery: each can add a whole schedule of attempts to its document. */
export const MAX_REPLAYS = 100;

/**
 * Selects failed deliveries by when they were accepted; an absent field selects all. Those over the sandbox's limit are not
 * among them: otherwise a replay of many would evade it.
 */
export interface FailedFilter {
  readonly since: Date;
  readonly until: Date;
  readonly monitorId?: string;
  readonly webhookUrl?: string;
}

const LAST_REPLAY = `replays.${MAX_REPLAYS - 1}`;
const notTooOften: Filter<Delivery> = { [LAST_REPLAY]: { $exists: false } };
const notLeased: Filter<Delivery> = { lease: { $exists: false } };
const MONITOR = { monitor_id: 1, url_version: 1 } as const;

export type Replays = ReturnType<typeof createReplays>;

/** Sends deliveries of one environment again. */
export function createReplays(options: { db: Db }) {
  const deliveries = options.db.collection<Delivery>("deliveries");
  const urls = createMonitorUrls(options);

  /** Returns the monitors of these deliveries that no longer have a URL. */
  async function monitorsWithoutUrl(some: readonly Delivery[]): Promise<string[]> {
    const newest = await urls.find(some.map(({ monitor_id }) => monitor_id));
    return [...newest.values()].filter(({ url }) => url === null).map(({ _id }) => _id);
  }

  return {
    /**
     * Sends one of the organization's deliveries again, to the monitor's present URL. `left`: nothing was changed, as an
     * attempt is in flight, or the first one is blocked by an earlier event of the monitor. `no_webhook_url`: the monitor no
     * longer has a URL.
     */
    async replay(
      { organizationId }: Tenant,
      deliveryId: string,
      by: Replay,
    ): Promise<"replayed" | "left" | "replayed_too_often" | "no_webhook_url"> {
      const owned = { _id: deliveryId, organization_id: organizationId };
      const delivery = await deliveries.findOne(owned, { projection: MONITOR });
      if (!delivery) return "left";
      if ((await monitorsWithoutUrl([delivery])).length > 0) return "no_webhook_url";
      const notBlocked: Filter<Delivery> = {
        $or: [{ status: { $ne: "pending" } }, { next_attempt_at: { $ne: null } }],
      };
      const { matchedCount } = await deliveries.updateOne(
        { ...owned, ...notTooOften, ...notLeased, ...notBlocked },
        replayed(by),
      );
      if (matchedCount > 0) {
        await urls.apply([delivery]).catch(afterEffect);
        return "replayed";
      }
      const exhausted = await deliveries.countDocuments({ ...owned, [LAST_REPLAY]: { $exists: true } });
      return exhausted > 0 ? "replayed_too_often" : "left";
    },

    /** Sends up to `limit` matching deliveries again, oldest first. Returns how many; 0 means that none is left. */
    async replayBatch(
      tenant: Tenant,
      filter: FailedFilter,
      by: Replay & { id: string },
      limit: number,
    ): Promise<number> {
      const notReplayed: Filter<Delivery> = { ...notTooOften, ...notLeased, "replays.id": { $ne: by.id } };
      const found = await deliveries
        .find({ ...failedQuery(tenant, filter), ...notReplayed }, { projection: MONITOR })
        .sort({ created_at: 1, _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      const withoutUrl = await monitorsWithoutUrl(found);
      const batch: Filter<Delivery> = {
        _id: { $in: found.map(({ _id }) => _id) },
        organization_id: tenant.organizationId,
        status: "failed",
        ...notReplayed,
      };
      await deliveries.updateMany({ ...batch, monitor_id: { $nin: withoutUrl } }, replayed(by));
      // They stay failed, as there is no URL to send them to.
      const failed = { $set: { failure: "no_webhook_url" as const }, $push: { replays: by } };
      await deliveries.updateMany({ ...batch, monitor_id: { $in: withoutUrl } }, failed);
      await urls.apply(found);
      return found.length;
    },

    /** Returns how many failed deliveries match, counted up to a limit. */
    countFailed: (tenant: Tenant, filter: FailedFilter, limit: number): Promise<number> =>
      deliveries.countDocuments({ ...failedQuery(tenant, filter), ...notTooOften }, { limit }),
  };
}

function failedQuery({ organizationId }: Tenant, { since, until, monitorId, webhookUrl }: FailedFilter) {
  return {
    organization_id: organizationId,
    status: "failed",
    failure: { $ne: "sandbox_limit" },
    test: { $ne: true },
    created_at: { $gte: since, $lte: until },
    ...(monitorId && { monitor_id: monitorId }),
    ...(webhookUrl && { endpoint_id: endpointId(organizationId, webhookUrl) }),
  } satisfies Filter<Delivery>;
}

/** The delivery is due now, and its schedule and 24 h begin again; its attempts and the event's id stay. */
function replayed(by: Replay): UpdateFilter<Delivery> {
  return {
    $set: { status: "pending", next_attempt_at: by.at, due_at: by.at, window_started_at: by.at, schedule_step: 0 },
    $unset: { held: "", failure: "", url_removed: "" },
    $push: { replays: by },
  };
}
