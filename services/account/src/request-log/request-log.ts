import { catalogue } from "@vvs/errors";
import { findPage } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import { type AnyBulkWriteOperation, type ClientSession, type Filter, ObjectId } from "mongodb";
import type { LoggedRequestDocument, RequestAllowanceDocument, RequestGapDocument } from "../model/logged-requests.ts";
import type { Basics } from "../parts.ts";
import { invalid } from "../refusals.ts";
import { ofTenant, tenantKey } from "../store.ts";
import { reportOnce } from "../usage/report-once.ts";
import { withinAllowance } from "./allowance.ts";

const HOUR_MS = 60 * 60 * 1000;
/** Far more than a gateway sends at once. */
const MAX_REPORTED = 10_000;

export type LoggedRequest = Omit<LoggedRequestDocument, "_id" | "organization_id" | "environment">;

/** Requests of one organization in one environment, and the number of those that its gateway left out. */
export interface ReportedRequests {
  readonly tenant: Tenant;
  readonly requests: readonly LoggedRequest[];
  readonly leftOut: number;
}

/** What to list. Undefined and empty filters match all requests. */
export interface RequestQuery {
  /** 2xx, 4xx, 5xx, no_answer, or the code of an error. */
  readonly outcome: string;
  readonly keyId: string;
  readonly operation: string | undefined;
  readonly requestId: string;
  readonly from: Date | undefined;
  /** Exclusive. */
  readonly to: Date | undefined;
  readonly page: PageRequest | undefined;
}

/** The API calls of organizations in the last days. */
export function createRequestLog(options: Omit<Basics, "audit">) {
  const { store, now } = options;

  async function add(session: ClientSession, reported: readonly ReportedRequests[]): Promise<void> {
    const at = now();
    const names = reported.map(({ tenant }) => tenantKey(tenant));
    const known = await store.requestAllowances.find({ _id: { $in: names } }, { session }).toArray();
    const allowances = new Map(known.map((allowance) => [allowance._id, allowance]));
    const documents: LoggedRequestDocument[] = [];
    const used: AnyBulkWriteOperation<RequestAllowanceDocument>[] = [];
    const gaps: AnyBulkWriteOperation<RequestGapDocument>[] = [];
    for (const { tenant, requests, leftOut } of reported) {
      const _id = tenantKey(tenant);
      const { kept, allowance } = withinAllowance(allowances.get(_id), requests, at);
      used.push({ replaceOne: { filter: { _id }, replacement: allowance, upsert: true } });
      documents.push(...kept.map((request) => documentOf(tenant, request, at)));
      const missing = leftOut + requests.length - kept.length;
      if (missing > 0) gaps.push(gap(tenant, at, missing));
    }
    if (used.length > 0) await store.requestAllowances.bulkWrite(used, { session, ordered: false });
    if (documents.length > 0) await store.requestLog.insertMany(documents, { session, ordered: false });
    if (gaps.length > 0) await store.requestGaps.bulkWrite(gaps, { session, ordered: false });
  }

  /** Returns how many requests of the period, by whole hours, are not in the log. */
  async function leftOut(tenant: Tenant, { from, to }: Pick<RequestQuery, "from" | "to">): Promise<number> {
    const hour = { ...(from && { $gte: hourOf(from) }), ...(to && { $lt: to }) };
    const match = { ...ofTenant(tenant), ...(Object.keys(hour).length > 0 && { hour }) };
    const [sum] = await store.requestGaps
      .aggregate<{ left_out: number }>([{ $match: match }, { $group: { _id: null, left_out: { $sum: "$left_out" } } }])
      .toArray();
    return sum?.left_out ?? 0;
  }

  return {
    /**
     * Stores what fits into the organizations' allowances and counts the rest, once for each report id.
     * Errors: invalid_request.
     */
    async report(reportId: string, reported: readonly ReportedRequests[]): Promise<void> {
      if (!reportId) throw invalid("report_id", "is missing");
      const count = reported.reduce((sum, { requests }) => sum + requests.length, 0);
      if (count > MAX_REPORTED) throw invalid("tenants", `must have at most ${MAX_REPORTED} requests`);
      if (new Set(reported.map(({ tenant }) => tenantKey(tenant))).size < reported.length) {
        throw invalid("tenants", "must not repeat an organization and environment");
      }
      await reportOnce(options, reportId, (session) => add(session, reported));
    },

    /** Returns a page of the tenant's requests, newest first. Errors: invalid_request. */
    async list(tenant: Tenant, query: RequestQuery) {
      const [page, operations, missing] = await Promise.all([
        findPage(store.requestLog, filterOf(tenant, query), query.page),
        store.requestLog.distinct("operation", ofTenant(tenant)),
        leftOut(tenant, query),
      ]);
      return { ...page, operations, leftOut: missing };
    },
  };
}

const hourOf = (at: Date) => new Date(at.getTime() - (at.getTime() % HOUR_MS));

function documentOf(tenant: Tenant, request: LoggedRequest, now: Date): LoggedRequestDocument {
  // A gateway whose clock is ahead must not keep requests longer.
  const created_at = request.created_at < now ? request.created_at : now;
  return { _id: new ObjectId().toHexString(), ...ofTenant(tenant), ...request, created_at };
}

function gap(tenant: Tenant, now: Date, missing: number): AnyBulkWriteOperation<RequestGapDocument> {
  const hour = hourOf(now);
  const filter = { _id: `${tenantKey(tenant)}:${hour.toISOString()}`, ...ofTenant(tenant), hour };
  return { updateOne: { filter, update: { $inc: { left_out: missing } }, upsert: true } };
}

function filterOf(tenant: Tenant, query: RequestQuery): Filter<LoggedRequestDocument> {
  const { outcome, keyId, operation, requestId, from, to } = query;
  return {
    ...ofTenant(tenant),
    ...(outcome && { outcome: outcomesOf(outcome) }),
    ...(keyId && { api_key_id: keyId }),
    ...(operation && { operation }),
    ...(requestId && { request_id: requestId }),
    ...((from ?? to) && { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  };
}

/** Returns the stored outcomes that a filter means. An index serves each of them. */
function outcomesOf(filter: string): Filter<LoggedRequestDocument>["outcome"] {
  if (filter === "2xx") return "ok";
  const [, hundreds] = /^([45])xx$/.exec(filter) ?? [];
  if (!hundreds) return filter;
  return { $in: Object.entries(catalogue).flatMap(([code, { http }]) => (String(http)[0] === hundreds ? [code] : [])) };
}
