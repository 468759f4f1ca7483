import type { Tenant } from "@vvs/tenant";
import type { Db, Filter } from "mongodb";
import type { Endpoint } from "./endpoint.ts";

/** State shown to users; it has no influence on what is sent. */
export type EndpointState = "healthy" | "troubled" | "failing" | "gone";

const HOUR_MS = 60 * 60 * 1000;
/**
 * An endpoint that failed for longer than the 24 h of retries has lost events. The first and the last attempt of an event
 * begin 24 h apart, so their ends can be a little less than that apart: hence the minute.
 */
const FAILING_AFTER_MS = 24 * HOUR_MS - 60_000;
/** An endpoint that got no attempt for this long is no longer flagged: it is out of use, or was a mistyped test URL. */
const FLAGGED_FOR_MS = 7 * 24 * HOUR_MS;
const MAX_FLAGGED_COUNT = 1_000;

/** Returns an endpoint's state for users. */
export function endpointState(
  endpoint: Pick<Endpoint, "failing_since" | "last_failure_at" | "gone_at">,
): EndpointState {
  const { failing_since: since, last_failure_at: last, gone_at } = endpoint;
  if (gone_at) return "gone";
  if (!since) return "healthy";
  return last && last.getTime() - since.getTime() >= FAILING_AFTER_MS ? "failing" : "troubled";
}

export interface EndpointsView {
  /** Returns those that fail, longest failing first; then, unless `flaggedOnly`, the others, last used first. */
  list(tenant: Tenant, options: { limit: number; flaggedOnly: boolean; now: Date }): Promise<ListedEndpoints>;
}

export interface ListedEndpoints {
  readonly endpoints: readonly Endpoint[];
  /** Number of endpoints that failed for a day or are gone, and failed within the last week; counted up to 1,000. */
  readonly flaggedCount: number;
  readonly hasMore: boolean;
}

/** The endpoints of one environment as users see them. */
export function createEndpointsView(options: { db: Db }): EndpointsView {
  const endpoints = options.db.collection<Endpoint>("endpoints");

  async function read({ organizationId }: Tenant, limit: number, flaggedOnly: boolean, now: Date) {
    const failing = { organization_id: organizationId, failing_since: { $gt: new Date(0) } };
    const first = await endpoints
      .find(flaggedOnly ? { ...failing, ...flagged(now) } : failing)
      .sort({ failing_since: 1 })
      .limit(limit)
      .toArray();
    if (flaggedOnly || first.length === limit) return first;
    const others = await endpoints
      .find({ organization_id: organizationId, failing_since: null })
      .sort({ updated_at: -1 })
      .limit(limit - first.length)
      .toArray();
    return [...first, ...others];
  }

  return {
    async list(tenant, { limit, flaggedOnly, now }) {
      const query = {
        organization_id: tenant.organizationId,
        failing_since: { $gt: new Date(0) },
        ...flagged(now),
      };
      const [found, flaggedCount] = await Promise.all([
        read(tenant, limit + 1, flaggedOnly, now),
        endpoints.countDocuments(query, { limit: MAX_FLAGGED_COUNT }),
      ]);
      return { endpoints: found.slice(0, limit), flaggedCount, hasMore: found.length > limit };
    },
  };
}

/** Failing or gone, and still in use. */
function flagged(now: Date): Filter<Endpoint> {
  const failedFor = { $subtract: ["$last_failure_at", "$failing_since"] };
  return {
    last_failure_at: { $gte: new Date(now.getTime() - FLAGGED_FOR_MS) },
    $or: [{ gone_at: { $gt: new Date(0) } }, { $expr: { $gte: [failedFor, FAILING_AFTER_MS] } }],
  };
}
