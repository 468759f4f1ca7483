import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { FailedFilter as ProtoFailedFilter, WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import type { Callers, Handlers } from "@vvs/rpc";
import { callerOf, type Environment } from "@vvs/tenant";
import type { Delivery } from "./delivery.ts";
import type { DeliveryDesk } from "./desk.ts";
import type { EndpointsView } from "./endpoints-view.ts";
import type { DeliveryListing } from "./listing.ts";
import { deliveryMessage, endpointMessage } from "./messages.ts";
import type { FailedFilter } from "./replay.ts";

const MAX_ENDPOINTS = 100;
const STATUSES: readonly string[] = ["pending", "delivered", "failed"] satisfies Delivery["status"][];

/** What people read and do of one environment. */
export interface ForPeople {
  readonly listing: DeliveryListing;
  readonly desk: DeliveryDesk;
  readonly endpoints: EndpointsView;
}

/** The gRPC methods over both environments. */
export function createHandlers(
  of: Readonly<Record<Environment, ForPeople>>,
  options: { now: () => Date },
): Handlers<typeof WebhookDispatcherService> {
  const { now } = options;
  return {
    async listDeliveries({ caller, page, ...asked }) {
      const { tenant } = callerOf(caller);
      const filter = {
        monitorId: asked.monitorId,
        webhookUrl: asked.webhookUrl,
        status: statusOf(asked.status),
        from: dateOf(asked.from),
        to: dateOf(asked.to),
        testsAlone: asked.testsAlone,
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
      const { delivery, replayed } = await of[who.tenant.environment].desk.replay(who, deliveryId);
      return { delivery: deliveryMessage(delivery, now()), replayed };
    },

    async countFailed({ caller, filter }) {
      const { tenant } = callerOf(caller);
      return { count: BigInt(await of[tenant.environment].desk.countFailed(tenant, failedFilter(filter))) };
    },

    async replayFailed({ caller, filter, replayId }) {
      const who = callerOf(caller);
      const count = await of[who.tenant.environment].desk.replayFailed(who, replayId, failedFilter(filter));
      return { count: BigInt(count) };
    },

    async sendTestEvent({ caller, webhookUrl }) {
      const who = callerOf(caller);
      return { delivery: deliveryMessage(await of[who.tenant.environment].desk.sendTest(who, webhookUrl), now()) };
    },

    async listEndpoints({ caller, limit, flaggedAlone }) {
      const { tenant } = callerOf(caller);
      if (limit < 1 || limit > MAX_ENDPOINTS) throw refusal("limit", `must be 1–${MAX_ENDPOINTS}`);
      const found = await of[tenant.environment].endpoints.list(tenant, { limit, flaggedAlone, now: now() });
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
