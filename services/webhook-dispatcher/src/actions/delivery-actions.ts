import { webhookUrlProblem } from "@vvs/egress";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { afterEffect } from "@vvs/mongo";
import type { CallerContext, Environment, Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import { endpointId } from "../endpoints/endpoint.ts";
import type { EndpointsView } from "../endpoints/endpoints-view.ts";
import type { Delivery } from "../model/delivery.ts";
import type { DeliveryListing } from "./listing.ts";
import type { FailedFilter, Replays } from "./replay.ts";
import type { ReplayJobs } from "./replay-jobs.ts";
import { testDelivery } from "./test-event.ts";

const MAX_COUNT = 100_000;
const MAX_RUNNING_REPLAYS = 5;
const MAX_REPLAY_ID_CHARACTERS = 100;
const TESTS_PER_MINUTE = 20;
const MINUTE_SECONDS = 60;

/** Writes an action of a user to the audit log, before it has an effect. */
export type Audit = (
  caller: CallerContext,
  entry: { action: string; target: string; details: Record<string, string> },
) => Promise<void>;

/** What users do with the deliveries of one environment. Each action is audited first; without its entry it has no effect. */
export function createDeliveryActions(options: {
  environment: Environment;
  db: Db;
  listing: Pick<DeliveryListing, "find">;
  replays: Pick<Replays, "replay" | "countFailed">;
  endpoints: Pick<EndpointsView, "has" | "dismiss">;
  jobs: Pick<ReplayJobs, "find" | "add" | "countRunning">;
  audit: Audit;
  allowPrivateTargets: boolean;
  /** Called when a bulk replay was added. */
  onReplay: () => void;
  now: () => Date;
}) {
  const { environment, listing, replays, endpoints, jobs, audit, allowPrivateTargets, now } = options;
  const deliveries = options.db.collection<Delivery>("deliveries");

  async function find(tenant: Tenant, deliveryId: string): Promise<Delivery> {
    const delivery = await listing.find(tenant, deliveryId);
    if (!delivery) throw new ServiceError("not_found", { message: "There is no such delivery." });
    return delivery;
  }

  return {
    /** Returns a delivery. Errors: not_found. */
    find,

    /** Sends a delivery again. Errors: not_found, invalid_request (no webhook URL), limit_exceeded, service_unavailable. */
    async replay(caller: CallerContext, deliveryId: string): Promise<{ delivery: Delivery; replayed: boolean }> {
      const { event_id, attempts, status } = await find(caller.tenant, deliveryId);
      await audit(caller, {
        action: "webhook_delivery.replayed",
        target: deliveryId,
        details: { event_id, attempts: String(attempts.length), status },
      });
      const by = { at: now(), actor: caller.actor };
      const outcome = await replays.replay(caller.tenant, deliveryId, by);
      if (outcome === "replayed_too_often") {
        throw new ServiceError("limit_exceeded", {
          message: "This delivery has been replayed 100 times, which is the maximum.",
        });
      }
      if (outcome === "no_webhook_url") {
        throw new ServiceError("invalid_request", {
          message: "The monitor no longer has a webhook URL. Give it one, then replay the delivery.",
        });
      }
      const replayed = outcome === "replayed";
      const delivery = await find(caller.tenant, deliveryId).catch(replayed ? afterEffect : undefined);
      return { delivery, replayed };
    },

    /** Returns how many failed deliveries match, counted up to 100,000. */
    countFailed: (tenant: Tenant, filter: Omit<FailedFilter, "until">): Promise<number> =>
      replays.countFailed(tenant, { ...filter, until: now() }, MAX_COUNT),

    /**
     * Starts to send all matching deliveries again; returns their number. Errors: invalid_request, limit_exceeded,
     * service_unavailable.
     */
    async replayFailed(caller: CallerContext, replayId: string, filter: Omit<FailedFilter, "until">): Promise<number> {
      const { tenant, actor } = caller;
      if (replayId === "" || replayId.length > MAX_REPLAY_ID_CHARACTERS)
        throw invalid("replay_id", `must be 1–${MAX_REPLAY_ID_CHARACTERS} characters`);
      const known = await jobs.find(tenant, replayId);
      if (known) return known.count;
      if ((await jobs.countRunning(tenant)) >= MAX_RUNNING_REPLAYS) {
        throw new ServiceError("limit_exceeded", {
          message: `${MAX_RUNNING_REPLAYS} replays are already running. Try again when one has finished.`,
        });
      }
      const bounded = { ...filter, until: now() };
      const count = await replays.countFailed(tenant, bounded, MAX_COUNT);
      await audit(caller, {
        action: "webhook_deliveries.replayed",
        target: replayId,
        details: {
          since: filter.since.toISOString(),
          count: String(count),
          ...(filter.monitorId && { monitor_id: filter.monitorId }),
          ...(filter.webhookUrl && { host: hostOf(filter.webhookUrl) }),
        },
      });
      const job = await jobs.add(tenant, replayId, { filter: bounded, actor, count, now: now() });
      options.onReplay();
      return job.count;
    },

    /** Sends a test event. Errors: invalid_request, rate_limited, service_unavailable. */
    async sendTest(caller: CallerContext, webhookUrl: string): Promise<Delivery> {
      const problem = webhookUrlProblem(webhookUrl, { environment, allowPrivateTargets });
      if (problem) throw invalid("webhook_url", problem);
      const minuteAgo = new Date(now().getTime() - MINUTE_SECONDS * 1000);
      const organization_id = caller.tenant.organizationId;
      const recent = { organization_id, test: true, created_at: { $gte: minuteAgo } } as const;
      if ((await deliveries.countDocuments(recent)) >= TESTS_PER_MINUTE) {
        throw new ServiceError("rate_limited", {
          message: `${TESTS_PER_MINUTE} test events were sent within a minute. Try again in a minute.`,
          retryAfterSeconds: MINUTE_SECONDS,
        });
      }
      const deliveryId = newId("dlv", now());
      await audit(caller, {
        action: "webhook_test.sent",
        target: deliveryId,
        details: { host: hostOf(webhookUrl) },
      });
      const delivery = testDelivery(caller.tenant, deliveryId, webhookUrl, now());
      await deliveries.insertOne(delivery);
      return delivery;
    },

    /** Hides an endpoint. Errors: not_found, service_unavailable. */
    async dismissEndpoint(caller: CallerContext, webhookUrl: string): Promise<void> {
      const { tenant } = caller;
      if (!(await endpoints.has(tenant, webhookUrl)))
        throw new ServiceError("not_found", { message: "There is no such endpoint." });
      await audit(caller, {
        action: "webhook_endpoint.dismissed",
        target: endpointId(tenant.organizationId, webhookUrl),
        details: { host: hostOf(webhookUrl) },
      });
      await endpoints.dismiss(tenant, webhookUrl);
    },
  };
}

export function invalid(path: string, message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path, message }] });
}

/** Returns the part of a URL that may be logged: paths and queries of webhooks can carry secrets. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}
