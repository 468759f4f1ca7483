import { randomUUID } from "node:crypto";
import type { Tenant } from "@vvs/tenant";
import type { Db, Filter } from "mongodb";
import { type Endpoint, endpointId } from "./endpoint.ts";

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
     * is the number of those that failed for a day or are gone, failed within the last week and were not dismissed; counted
     * up to 1,000.
     */
    async list(
      { organizationId: organization_id }: Tenant,
      { limit, flaggedOnly, now }: { limit: number; flaggedOnly: boolean; now: Date },
    ): Promise<{ endpoints: Endpoint[]; flaggedCount: number; hasMore: boolean }> {
      const isFailing = { organization_id, failing_since: { $gt: new Date(0) } };
      const isFlagged = { ...isFailing, ...flagged(now) };
      const [found, flaggedCount] = await Promise.all([
        endpoints
          .find(flaggedOnly ? isFlagged : { ...isFailing, ...shown })
          .sort({ failing_since: 1 })
          .limit(limit + 1)
          .toArray(),
        endpoints.countDocuments(isFlagged, { limit: MAX_FLAGGED_COUNT }),
      ]);
      if (!flaggedOnly && found.length <= limit) {
        const others = endpoints.find({ organization_id, failing_since: null, ...shown }).sort({ updated_at: -1 });
        found.push(...(await others.limit(limit + 1 - found.length).toArray()));
      }
      return { endpoints: found.slice(0, limit), flaggedCount, hasMore: found.length > limit };
    },

    /** Returns whether the organization has an endpoint with this URL. */
    async has({ organizationId: organization_id }: Tenant, url: string): Promise<boolean> {
      return (await endpoints.countDocuments({ _id: endpointId(organization_id, url), organization_id })) > 0;
    },

    /** Dismisses an endpoint. Replicas that have an older version in memory read this one before they store theirs. */
    async dismiss({ organizationId: organization_id }: Tenant, url: string): Promise<void> {
      const next = { rev: { $add: ["$rev", 1] }, rev_by: randomUUID(), dismissed_at: "$$NOW", updated_at: "$$NOW" };
      await endpoints.updateOne({ _id: endpointId(organization_id, url), organization_id }, [{ $set: next }]);
    },
  };
}

/** Not dismissed, or attempted since. */
const shown: Filter<Endpoint> = {
  $or: [
    { dismissed_at: null },
    { $expr: { $gt: [{ $max: ["$last_failure_at", "$last_success_at"] }, "$dismissed_at"] } },
  ],
};

/** Failing or gone, still in use, and not dismissed. */
function flagged(now: Date): Filter<Endpoint> {
  const failedFor = { $subtract: ["$last_failure_at", "$failing_since"] };
  return {
    dismissed_at: null,
    last_failure_at: { $gte: new Date(now.getTime() - FLAGGED_FOR_MS) },
    $or: [{ gone_at: { $gt: new Date(0) } }, { $expr: { $gte: [failedFor, FAILING_AFTER_MS] } }],
  };
}
