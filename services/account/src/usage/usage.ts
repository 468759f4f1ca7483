import { ServiceError } from "@vvs/errors";
import { DURATION_CLASSES } from "@vvs/telemetry/durations";
import type { Tenant } from "@vvs/tenant";
import type { AnyBulkWriteOperation, ClientSession } from "mongodb";
import type { Basics } from "../parts.ts";
import { type ApiKeyUseDocument, ofTenant, type UsageDocument } from "../store.ts";
import { reportOnce } from "./report-once.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Maximum period of usage by interval, so that an answer stays bounded. */
const LONGEST_MS = { hour: 7 * DAY_MS, day: 92 * DAY_MS } as const;

/** Requests of one key, within one hour (or, read by day, one day), with one status. */
export interface UsageCount {
  readonly tenant: Tenant;
  readonly keyId: string;
  readonly hour: Date;
  readonly status: number;
  readonly requests: number;
  /** A histogram of DURATION_CLASSES numbers. */
  readonly durations: readonly number[];
  readonly lastAt: Date;
}

export interface UsageRange {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  readonly interval: keyof typeof LONGEST_MS;
  /** Only the usage of this key. */
  readonly keyId?: string;
}

/** The requests of organizations, as gateways count them. */
export function createUsage(options: Omit<Basics, "audit">) {
  const { store } = options;

  async function add(session: ClientSession, counts: readonly UsageCount[]): Promise<void> {
    if (counts.length === 0) return;
    await store.usage.bulkWrite(counts.map(addition), { session, ordered: false });
    await store.apiKeyUses.bulkWrite(counts.map(lastUse), { session, ordered: false });
  }

  return {
    /** Adds a gateway's counts, once for each report id. Errors: invalid_request. */
    async report(reportId: string, counts: readonly UsageCount[]): Promise<void> {
      if (!reportId || counts.some(({ durations }) => durations.length !== DURATION_CLASSES)) {
        throw new ServiceError("invalid_request", {
          message: "A report must have an id, and its counts must have durations.",
        });
      }
      await reportOnce(options, reportId, (session) => add(session, counts));
    },

    /** Returns usage by time, key and status. Errors: invalid_request. */
    async get(tenant: Tenant, { from, to, interval, keyId }: UsageRange): Promise<Omit<UsageCount, "tenant">[]> {
      const longest = LONGEST_MS[interval];
      if (!(from < to) || to.getTime() - from.getTime() > longest) {
        throw new ServiceError("invalid_request", {
          message: `By ${interval}, usage covers at most ${longest / DAY_MS} days.`,
        });
      }
      const counted = await store.usage
        .aggregate<{ _id: { at: Date; key: string; status: number } } & Sums>([
          { $match: { ...ofTenant(tenant), hour: { $gte: from, $lt: to }, ...(keyId && { api_key_id: keyId }) } },
          {
            $group: {
              _id: { at: { $dateTrunc: { date: "$hour", unit: interval } }, key: "$api_key_id", status: "$status" },
              requests: { $sum: "$requests" },
              last_at: { $max: "$last_at" },
              ...durationSums,
            },
          },
          { $sort: { "_id.at": 1, "_id.key": 1, "_id.status": 1 } },
        ])
        .toArray();
      return counted.map(({ _id, requests, last_at, ...sums }) => ({
        keyId: _id.key,
        hour: _id.at,
        status: _id.status,
        requests,
        durations: classes.map((place) => sums[`d${place}`] ?? 0),
        lastAt: last_at,
      }));
    },

    /** Returns when each of these keys of the tenant was last used. */
    async lastUses(tenant: Tenant, keyIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
      const uses = await store.apiKeyUses.find({ _id: { $in: [...keyIds] }, ...ofTenant(tenant) }).toArray();
      return new Map(uses.map(({ _id, last_used_at }) => [_id, last_used_at]));
    },
  };
}

const classes = Array.from({ length: DURATION_CLASSES }, (_, place) => place);
type Sums = { requests: number; last_at: Date } & { [name: `d${number}`]: number };
const durationSums = Object.fromEntries(classes.map((place) => [`d${place}`, { $sum: `$durations.${place}` }]));

function addition(count: UsageCount): AnyBulkWriteOperation<UsageDocument> {
  const { tenant, keyId, hour, status, requests, durations, lastAt } = count;
  const took = durations.flatMap((number, place) => (number > 0 ? [[`durations.${place}`, number]] : []));
  return {
    updateOne: {
      filter: { _id: `${keyId}:${hour.toISOString()}:${status}`, ...ofTenant(tenant), api_key_id: keyId, hour, status },
      update: { $inc: { requests, ...Object.fromEntries(took) }, $max: { last_at: lastAt } },
      upsert: true,
    },
  };
}

function lastUse({ tenant, keyId, lastAt }: UsageCount): AnyBulkWriteOperation<ApiKeyUseDocument> {
  const filter = { _id: keyId, ...ofTenant(tenant) };
  return { updateOne: { filter, update: { $max: { last_used_at: lastAt } }, upsert: true } };
}
