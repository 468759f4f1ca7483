import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type FailedFilter as ProtoFailedFilter, WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import { type Handlers, onlyFor } from "@vvs/rpc";
import { callerOf, type Environment } from "@vvs/tenant";
import { invalid } from "./actions/delivery-actions.ts";
import type { DeliveryStatus } from "./actions/listing.ts";
import type { FailedFilter } from "./actions/replay.ts";
import type { DeliveryApi } from "./domain.ts";
import { deliveryMessage, endpointMessage } from "./messages.ts";

const MAX_ENDPOINTS = 100;
const STATUSES: readonly string[] = ["pending", "delivered", "failed", "failing"] satisfies DeliveryStatus[];

/** The gRPC methods, for both environments. */
export function createHandlers(
  of: Readonly<Record<Environment, Pick<DeliveryApi, "listing" | "actions" | "endpoints">>>,
  now: () => Date,
): Handlers<typeof WebhookDispatcherService> {
  return {
    async listDeliveries({ caller, page, ...request }) {
      const { tenant } = callerOf(caller);
      const filter = {
        monitorId: request.monitorId,
        webhookUrl: request.webhookUrl,
        status: statusOf(request.status),
        from: dateOf(request.from),
        to: dateOf(request.to),
        testsOnly: request.testsOnly,
        eventId: request.eventId,
      };
      const { items, next } = await of[tenant.environment].listing.list(tenant, filter, page);
      return { deliveries: items.map((delivery) => deliveryMessage(delivery, now())), next };
    },

    async getDelivery({ caller, deliveryId }) {
      const { tenant } = callerOf(caller);
      const delivery = await of[tenant.environment].actions.find(tenant, deliveryId);
      return { delivery: deliveryMessage(delivery, now(), { withSent: true }) };
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

    async listEndpoints({ caller, limit, flaggedOnly }) {
      const { tenant } = callerOf(caller);
      if (limit < 1 || limit > MAX_ENDPOINTS) throw invalid("limit", `must be 1–${MAX_ENDPOINTS}`);
      const options = { limit, flaggedOnly, now: now() };
      const found = await of[tenant.environment].endpoints.list(tenant, options);
      return { ...found, endpoints: found.endpoints.map(endpointMessage) };
    },

    async dismissEndpoint({ caller, webhookUrl }) {
      const who = callerOf(caller);
      await of[who.tenant.environment].actions.dismissEndpoint(who, webhookUrl);
      return {};
    },
  };
}

export const callers = onlyFor(WebhookDispatcherService, "dashboard");

function statusOf(status: string): DeliveryStatus | undefined {
  if (status === "") return undefined;
  if (!STATUSES.includes(status)) throw invalid("status", "must be pending, delivered, failed or failing");
  return status as DeliveryStatus;
}

function failedFilter(filter: ProtoFailedFilter | undefined): Omit<FailedFilter, "until"> {
  const since = dateOf(filter?.since);
  if (!since) throw invalid("filter.since", "is required");
  return { since, monitorId: filter?.monitorId, webhookUrl: filter?.webhookUrl };
}

function dateOf(at: Timestamp | undefined): Date | undefined {
  return at && timestampDate(at);
}
