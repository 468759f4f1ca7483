import type { Db, Document } from "mongodb";
import { destinationOf } from "../endpoints/endpoint.ts";
import type { Delivery } from "../model/delivery.ts";

/** The newest URL of a monitor whose URL was changed. */
export interface MonitorUrl {
  /** mon_…. */
  readonly _id: string;
  readonly organization_id: string;
  /** Null: removed. */
  readonly url: string | null;
  /** Number of changes of the monitor's URL, this one included. */
  readonly version: number;
}

export type MonitorUrls = ReturnType<typeof createMonitorUrls>;

/**
 * Sends the deliveries of one environment to the URL that their monitor has now. Both sides write first and read
 * afterwards: a change is stored and then applied to pending deliveries, and code that makes deliveries pending then
 * applies the stored changes. So neither misses the other if they happen at the same time, in whatever order their
 * records come. After a crash between the write and the read, the due poller applies the stored changes.
 */
export function createMonitorUrls({ db }: { db: Db }) {
  const deliveries = db.collection<Delivery>("deliveries");
  const urls = db.collection<MonitorUrl>("monitor_urls");

  /** Returns the newest URLs of those monitors whose URL was ever changed, by monitor id. */
  async function find(monitorIds: readonly string[]): Promise<Map<string, MonitorUrl>> {
    if (monitorIds.length === 0) return new Map();
    const found = await urls.find({ _id: { $in: [...new Set(monitorIds)] } }).toArray();
    return new Map(found.map((each) => [each._id, each]));
  }

  /**
   * Sends pending deliveries of these monitors to newer URLs, if any. Returns the ids of the monitors with a newer URL than
   * one of these deliveries has.
   */
  async function apply(pending: readonly Pick<Delivery, "monitor_id" | "url_version">[]): Promise<ReadonlySet<string>> {
    const newestOf = await find(pending.map(({ monitor_id }) => monitor_id));
    const outdated = new Set<string>();
    for (const { monitor_id, url_version = 0 } of pending)
      if ((newestOf.get(monitor_id)?.version ?? 0) > url_version) outdated.add(monitor_id);
    for (const monitorId of outdated) {
      const newest = newestOf.get(monitorId)!;
      await deliveries.updateMany(
        {
          organization_id: newest.organization_id,
          monitor_id: monitorId,
          status: "pending",
          test: { $ne: true },
          url_version: { $not: { $gte: newest.version } },
        },
        sentTo(newest),
      );
    }
    return outdated;
  }

  /** Fails pending deliveries of monitors without a URL; an attempt in flight ends first. */
  async function endRemoved(): Promise<void> {
    const isFree = { $or: [{ lease: { $exists: false } }, { $expr: { $lte: ["$next_attempt_at", "$$NOW"] } }] };
    await deliveries.updateMany(
      { url_removed: true, status: "pending", ...isFree },
      {
        $set: { status: "failed", failure: "no_webhook_url", next_attempt_at: null },
        $unset: { held: "", lease: "", first_attempt_owed: "", url_removed: "" },
      },
    );
  }

  /** Stores new URLs, unless a newer one is known, and sends pending deliveries there. Repeating it has no effect. */
  async function change(changed: readonly MonitorUrl[]): Promise<void> {
    if (changed.length === 0) return;
    await urls.bulkWrite(
      changed.map((url) => ({ updateOne: { filter: { _id: url._id }, update: unlessNewer(url), upsert: true } })),
    );
    await apply(changed.map(({ _id }) => ({ monitor_id: _id })));
    await endRemoved();
  }

  return { find, apply, endRemoved, change };
}

function unlessNewer({ _id, ...fields }: MonitorUrl): Document[] {
  const isNewer = { $gte: [{ $ifNull: ["$version", -1] }, fields.version] };
  return [{ $replaceWith: { $cond: [isNewer, "$$ROOT", { $mergeObjects: ["$$ROOT", { $literal: fields }] }] } }];
}

/** A held delivery is due by its schedule again, as the new URL is another endpoint. */
function sentTo({ organization_id, url, version }: MonitorUrl): Document[] {
  if (url === null) return [{ $set: { url_removed: true, url_version: version } }];
  return [
    {
      $set: {
        ...destinationOf(organization_id, url),
        webhook_url: { $literal: url },
        url_version: version,
        next_attempt_at: { $cond: [{ $eq: ["$held", true] }, "$due_at", "$next_attempt_at"] },
      },
    },
    { $unset: ["held", "url_removed"] },
  ];
}
