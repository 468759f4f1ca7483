import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type DeliverySchema, WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import { fakePart, findIn } from "./fake-part.ts";
import type { FakeState } from "./fake-state.ts";

export const DELIVERY_ID = "dlv_01m7ygvppkenma4hm7yf5h5159";
export const MONITOR_ID = "mon_01m7ygrfd7fvwr2n2apeh0ddm8";

type Delivery = MessageInitShape<typeof DeliverySchema>;

const at = timestampFromDate(new Date("2026-11-21T09:30:05.067Z"));

/** A delivery as the service sends it. */
export function deliveryOf(changes: Delivery = {}): Delivery {
  return {
    id: DELIVERY_ID,
    eventId: "evt_01m7ygvppkf9m8p9ecpfzd1xaj",
    monitorId: MONITOR_ID,
    webhookUrl: "https://acme.example/hook",
    status: "failed",
    createdAt: at,
    detectedAt: at,
    entityId: "ent_01m7ygrfd7fvwr2n2apeh0ddm8",
    verificationId: "ver_01m7ygvppkenma4hm7yf5h5159",
    changes: [{ field: "sam_registration.status", previous: "pass", current: "fail" }],
    attempts: [
      { number: 1, startedAt: at, durationMs: 41n, statusCode: 500, error: "http_status", answerExcerpt: "<b>no" },
      { number: 2, startedAt: at, durationMs: 15_000n, error: "timeout" },
    ],
    ...changes,
  };
}

/** Simulates the webhook dispatcher. */
export function dispatcherPart(state: FakeState) {
  const find = (id: string) => findIn(state.deliveries, id);
  return fakePart(WebhookDispatcherService, state, {
    recorded: {
      async listDeliveries() {
        const last = state.deliveries.at(-1);
        return { deliveries: state.deliveries, next: state.hasOlder ? { createdAt: at, id: last!.id! } : undefined };
      },
      async replayDelivery({ deliveryId }) {
        const delivery = find(deliveryId);
        return { delivery, replayed: !delivery.underWay };
      },
      countFailed: async () => ({ count: BigInt(state.failedCount) }),
      replayFailed: async () => ({ count: BigInt(state.failedCount) }),
      async sendTestEvent({ webhookUrl }) {
        const delivery = deliveryOf({ webhookUrl, test: true, status: "delivered" });
        state.deliveries.unshift(delivery);
        return { delivery };
      },
    },
    quiet: {
      getDelivery: async ({ deliveryId }) => ({ delivery: find(deliveryId) }),
      async listEndpoints({ limit, flaggedOnly }) {
        const flagged = state.endpoints.filter((each) => each.state === "failing" || each.state === "gone");
        const meant = flaggedOnly ? flagged : state.endpoints;
        return { endpoints: meant.slice(0, limit), flaggedCount: flagged.length, hasMore: meant.length > limit };
      },
      async dismissEndpoint({ webhookUrl }) {
        state.calls.push(`dismissEndpoint ${webhookUrl}`);
        state.endpoints = state.endpoints.filter((each) => each.webhookUrl !== webhookUrl);
        return {};
      },
    },
  });
}
