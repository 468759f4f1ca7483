import type { Tenant } from "@vvs/tenant";
import type { Db, Filter } from "mongodb";
import type { Endpoint } from "./endpoint.ts";

/** State shown to users; it has no influence on what is sent. */
export type EndpointState = "healthy" | "troubled" | "failing" | "gone";

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * An endpoint that failed for longer than the 24 h of retries has lost events. The first and the last attempt of an event
 * begin 24 h apart, so their ends can be a little less than that apart: hence the minute.
 */
const FAILING_AFTER_MS = DAY_MS - 60_000;
/** An endpoint that got no attempt for this long is no longer flagged: it is out of use, or was a mistyped test URL. */
const FLAGGED_FOR_MS = 7 * DAY_MS;
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

export type EndpointsView = ReturnType<typeof createEndpointsView>;

/** The endpoints of one environment as users see them. */
export function createEndpointsView(options: { db: Db }) {
  const endpoints = options.db.collection<Endpoint>("endpoints");
  return {
    /**
     * Returns those that fail, longest failing first; then, unless `flaggedOnly`, the others, last used first. `flaggedCount`
     * is the number of those that failed for a day or are gone, and failed within the last week; counted up to 1,000.
     */
    async list(
      { organizationId: organization_id }: Tenant,
      { limit, flaggedOnly, now }: { limit: number; flaggedOnly: boolean; now: Date },
    ): Promise<{ endpoints: Endpoint[]; flaggedCount: number; hasMore: boolean }> {
      const failing = { organization_id, failing_since: { $gt: new Date(0) } };
      const isFlagged = { ...failing, ...flagged(now) };
      const [found, flaggedCount] = await Promise.all([
        endpoints
          .find(flaggedOnly ? isFlagged : failing)
          .sort({ failing_since: 1 })
          .limit(limit + 1)
          .toArray(),
        endpoints.countDocuments(isFlagged, { limit: MAX_FLAGGED_COUNT }),
      ]);
      if (!flaggedOnly && found.length <= limit) {
        const others = endpoints.find({ organization_id, failing_since: null }).sort({ updated_at: -1 });
        found.push(...(await others.limit(limit + 1 - found.length).toArray()));
      }
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
