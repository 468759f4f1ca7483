import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { FailedFilter as ProtoFailedFilter, WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import type { Callers, Handlers } from "@vvs/rpc";
import { callerOf, type Environment } from "@vvs/tenant";
import type { DeliveryActions } from "./actions/delivery-actions.ts";
import type { DeliveryListing } from "./actions/listing.ts";
import type { FailedFilter } from "./actions/replay.ts";
import type { Delivery } from "./delivery/delivery.ts";
import type { EndpointsView } from "./endpoints/endpoints-view.ts";
import { deliveryMessage, endpointMessage } from "./messages.ts";

const MAX_ENDPOINTS = 100;
const STATUSES: readonly string[] = ["pending", "delivered", "failed"] satisfies Delivery["status"][];

/** What users read and do in one environment. */
export interface DeliveryApi {
  readonly listing: DeliveryListing;
  readonly actions: DeliveryActions;
  readonly endpoints: EndpointsView;
}

/** The gRPC methods, for both environments. */
export function createHandlers(
  of: Readonly<Record<Environment, DeliveryApi>>,
  options: { now: () => Date },
): Handlers<typeof WebhookDispatcherService> {
  const { now } = options;
  return {
    async listDeliveries({ caller, page, ...request }) {
      const { tenant } = callerOf(caller);
      const filter = {
        monitorId: request.monitorId,
        webhookUrl: request.webhookUrl,
        status: statusOf(request.status),
        from: dateOf(request.from),
        to: dateOf(request.to),
        testsOnly: request.testsAlone,
      };
      const { items, next } = await of[tenant.environment].listing.list(tenant, filter, page);
      return { deliveries: items.map((delivery) => deliveryMessage(delivery, now())), next };
    },

    async getDelivery({ caller, deliveryId }) {
      const { tenant } = callerOf(caller);
      const delivery = await of[tenant.environment].listing.find(tenant, deliveryId);
      if (!delivery) throw new ServiceError("not_found", { message: "There is no such delivery." });
      return { delivery: deliveryMessage(delivery, now()) };
    },

    async replayDelivery({ caller, deliveryId }) {
      const who = callerOf(caller);
      const { delivery, replayed } = await of[who.tenant.environment].actions.replay(who, deliveryId);
      return { delivery: deliveryMessage(delivery, now()), replayed };
    },

    async countFailed({ caller, filter }) {
      const { tenant } = callerOf(caller);
      return { count: BigInt(await of[tenant.environment].actions.countFailed(tenant, failedFilter(filter))) };
    },

    async replayFailed({ caller, filter, replayId }) {
      const who = callerOf(caller);
      const count = await of[who.tenant.environment].actions.replayFailed(who, replayId, failedFilter(filter));
      return { count: BigInt(count) };
    },

    async sendTestEvent({ caller, webhookUrl }) {
      const who = callerOf(caller);
      return { delivery: deliveryMessage(await of[who.tenant.environment].actions.sendTest(who, webhookUrl), now()) };
    },

    async listEndpoints({ caller, limit, flaggedAlone }) {
      const { tenant } = callerOf(caller);
      if (limit < 1 || limit > MAX_ENDPOINTS) throw refusal("limit", `must be 1–${MAX_ENDPOINTS}`);
      const found = await of[tenant.environment].endpoints.list(tenant, {
        limit,
        flaggedOnly: flaggedAlone,
        now: now(),
      });
      return { ...found, endpoints: found.endpoints.map(endpointMessage) };
    },
  };
}

export const callers: Callers<typeof WebhookDispatcherService> = {
  listDeliveries: ["dashboard"],
  getDelivery: ["dashboard"],
  replayDelivery: ["dashboard"],
  countFailed: ["dashboard"],
  replayFailed: ["dashboard"],
  sendTestEvent: ["dashboard"],
  listEndpoints: ["dashboard"],
};

function statusOf(status: string): Delivery["status"] | undefined {
  if (status === "") return undefined;
  if (!STATUSES.includes(status)) throw refusal("status", "must be pending, delivered or failed");
  return status as Delivery["status"];
}

function failedFilter(filter: ProtoFailedFilter | undefined): Omit<FailedFilter, "until"> {
  const since = dateOf(filter?.since);
  if (!since) throw refusal("filter.since", "is required");
  return { since, monitorId: filter?.monitorId, webhookUrl: filter?.webhookUrl };
}

function dateOf(at: Timestamp | undefined): Date | undefined {
  return at && timestampDate(at);
}

function refusal(path: string, message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path, message }] });
}
