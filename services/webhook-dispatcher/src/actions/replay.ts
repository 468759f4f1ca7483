import { afterEffect } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import type { Db, Filter, UpdateFilter } from "mongodb";
import type { Delivery, Replay } from "../delivery/delivery.ts";
import { createMonitorUrls, type MonitorUrl } from "../delivery/monitor-urls.ts";
import { destinationOf, endpointId } from "../endpoints/endpoint.ts";

/** Maximum number of replays of one delivery: each can add a whole schedule of attempts to its document. */
export const MAX_REPLAYS = 100;

/** Result of a request to replay a delivery. */
export type ReplayOutcome = "replayed" | "left" | "replayed_too_often" | "no_webhook_url";

export interface Replays {
  /**
   * Sends one of the organization's deliveries again. `left`: nothing was changed, as an attempt is in flight, or the first
   * one is blocked by an earlier event of the monitor. `no_webhook_url`: the monitor no longer has a URL.
   */
  replay(tenant: Tenant, deliveryId: string, by: Replay): Promise<ReplayOutcome>;
  /** Sends up to `limit` matching deliveries again, oldest first. Returns how many; 0 means that none is left. */
  replayBatch(tenant: Tenant, filter: FailedFilter, by: Replay & { id: string }, limit: number): Promise<number>;
  /** Returns how many failed deliveries match, counted up to a limit. */
  countFailed(tenant: Tenant, filter: FailedFilter, limit: number): Promise<number>;
}

/** Selects failed deliveries by when they were accepted; an absent field selects all. */
export interface FailedFilter {
  readonly since: Date;
  readonly until: Date;
  readonly monitorId?: string;
  readonly webhookUrl?: string;
}

/** Sends deliveries of one environment again. */
export function createReplays(options: { db: Db }): Replays {
  const deliveries = options.db.collection<Delivery>("deliveries");
  const urls = createMonitorUrls(options);
  return {
    async replay({ organizationId }, deliveryId, by) {
      const owned = { _id: deliveryId, organization_id: organizationId };
      const delivery = await deliveries.findOne(owned, { projection: MONITOR });
      if (!delivery) return "left";
      const newest = newestFor(delivery, await urls.find([delivery.monitor_id]));
      if (newest?.url === null) return "no_webhook_url";
      const { matchedCount } = await deliveries.updateOne(
        {
          ...owned,
          ...notTooOften,
          ...notLeased,
          $or: [{ status: { $ne: "pending" } }, { next_attempt_at: { $ne: null } }],
        },
        replayed(by, newest),
      );
      if (matchedCount > 0) {
        const pending = { ...delivery, url_version: newest?.version ?? delivery.url_version };
        await urls.apply([pending]).catch(afterEffect);
        return "replayed";
      }
      const exhausted = await deliveries.countDocuments({ ...owned, [LAST_REPLAY]: { $exists: true } });
      return exhausted > 0 ? "replayed_too_often" : "left";
    },

    async replayBatch(tenant, filter, by, limit) {
      const notReplayed: Filter<Delivery> = { ...notTooOften, ...notLeased, "replays.id": { $ne: by.id } };
      const found = await deliveries
        .find({ ...failedQuery(tenant, filter), ...notReplayed }, { projection: MONITOR })
        .sort({ created_at: 1, _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      const newest = await urls.find(found.map(({ monitor_id }) => monitor_id));
      for (const [url, some] of Map.groupBy(found, (delivery) => newestFor(delivery, newest))) {
        const ids = some.map(({ _id }) => _id);
        await deliveries.updateMany(
          { _id: { $in: ids }, organization_id: tenant.organizationId, status: "failed", ...notReplayed },
          url?.url === null ? withoutUrl(by) : replayed(by, url),
        );
      }
      await urls.apply(
        found.map((each) => ({ ...each, url_version: newestFor(each, newest)?.version ?? each.url_version })),
      );
      return found.length;
    },

    countFailed: (tenant, filter, limit) =>
      deliveries.countDocuments({ ...failedQuery(tenant, filter), ...notTooOften }, { limit }),
  };
}

const LAST_REPLAY = `replays.${MAX_REPLAYS - 1}`;
const notTooOften: Filter<Delivery> = { [LAST_REPLAY]: { $exists: false } };

const notLeased: Filter<Delivery> = { lease: { $exists: false } };

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

/** The delivery is due now, and its schedule and 24 h begin again; its attempts and the event's id stay. */
function replayed(by: Replay, newest: MonitorUrl | undefined): UpdateFilter<Delivery> {
  return {
    $set: {
      status: "pending",
      next_attempt_at: by.at,
      due_at: by.at,
      window_started_at: by.at,
      schedule_step: 0,
      ...(newest?.url && { ...destinationOf(newest.organization_id, newest.url), url_version: newest.version }),
    },
    $unset: { held: "", failure: "", url_removed: "" },
    $push: { replays: by },
  };
}

/** The delivery stays failed, as there is no URL to send it to. */
function withoutUrl(by: Replay): UpdateFilter<Delivery> {
  return { $set: { failure: "no_webhook_url" }, $push: { replays: by } };
}

const MONITOR = { monitor_id: 1, url_version: 1, test: 1 } as const;

/** Returns the URL of the delivery's monitor, where it is newer than the delivery's own. */
function newestFor(
  { monitor_id, url_version = 0, test }: Pick<Delivery, "monitor_id" | "url_version" | "test">,
  urls: ReadonlyMap<string, MonitorUrl>,
): MonitorUrl | undefined {
  const newest = test ? undefined : urls.get(monitor_id);
  // A delivery that failed because the URL was removed has the version of the removal.
  return newest && (newest.version > url_version || newest.url === null) ? newest : undefined;
}
