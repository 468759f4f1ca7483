import type { Tenant } from "@vvs/tenant";
import type { Db, Filter } from "mongodb";
import type { Endpoint } from "./endpoint.ts";

/** For people; nothing is held back for an endpoint in any state. */
export type EndpointState = "healthy" | "troubled" | "failing" | "gone";

const HOUR_MS = 60 * 60 * 1000;
/**
 * Retries of 24 h bridge what takes less: an endpoint that failed for longer has lost events. The minute is for the first
 * and the last attempt of an event, which are 24 h apart from beginning to beginning.
 */
const FAILING_AFTER_MS = 24 * HOUR_MS - 60_000;
/** Nobody is alarmed for longer by an endpoint that nothing is sent to any more, or by a test to a URL with a typo. */
const ALARM_FOR_MS = 7 * 24 * HOUR_MS;
const MAX_FLAGGED_COUNT = 1_000;

/** What to call an endpoint's state. */
export function endpointState(
  endpoint: Pick<Endpoint, "failing_since" | "last_failure_at" | "gone_at">,
): EndpointState {
  const { failing_since: since, last_failure_at: last, gone_at } = endpoint;
  if (gone_at) return "gone";
  if (!since) return "healthy";
  return last && last.getTime() - since.getTime() >= FAILING_AFTER_MS ? "failing" : "troubled";
}

export interface EndpointsView {
  /** Those that fail, longest failing first; then, unless only flagged ones are meant, the others, last used first. */
  list(tenant: Tenant, options: { limit: number; flaggedAlone: boolean; now: Date }): Promise<ListedEndpoints>;
}

export interface ListedEndpoints {
  readonly endpoints: readonly Endpoint[];
  /** How many failed for a day or are gone, and failed within the last week; counted up to 1,000. */
  readonly flaggedCount: number;
  readonly hasMore: boolean;
}

/** What people read of the endpoints of one environment. */
export function createEndpointsView(options: { db: Db }): EndpointsView {
  const endpoints = options.db.collection<Endpoint>("endpoints");

  async function read({ organizationId }: Tenant, limit: number, flaggedAlone: boolean, now: Date) {
    const failing = { organization_id: organizationId, failing_since: { $gt: new Date(0) } };
    const first = await endpoints
      .find(flaggedAlone ? { ...failing, ...flagged(now) } : failing)
      .sort({ failing_since: 1 })
      .limit(limit)
      .toArray();
    if (flaggedAlone || first.length === limit) return first;
    const others = await endpoints
      .find({ organization_id: organizationId, failing_since: null })
      .sort({ updated_at: -1 })
      .limit(limit - first.length)
      .toArray();
    return [...first, ...others];
  }

  return {
    async list(tenant, { limit, flaggedAlone, now }) {
      const query = {
        organization_id: tenant.organizationId,
        failing_since: { $gt: new Date(0) },
        ...flagged(now),
      };
      const [found, flaggedCount] = await Promise.all([
        read(tenant, limit + 1, flaggedAlone, now),
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
    last_failure_at: { $gte: new Date(now.getTime() - ALARM_FOR_MS) },
    $or: [{ gone_at: { $gt: new Date(0) } }, { $expr: { $gte: [failedFor, FAILING_AFTER_MS] } }],
  };
}
