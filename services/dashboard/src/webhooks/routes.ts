import { requireConfirmed } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import type { PageRoutes } from "../page/routes.ts";
import { createDeliveryHandlers } from "./delivery.ts";
import { createDeliveryList } from "./delivery-list.ts";
import { createReplayFailedHandlers } from "./replay-failed.ts";
import { createTestEventHandlers } from "./test-event.ts";
import { createWebhookHandlers } from "./webhooks.ts";

export function webhookRoutes(context: PageContext): PageRoutes {
  const webhooks = createWebhookHandlers(context);
  const delivery = createDeliveryHandlers(context);
  const replay = createReplayFailedHandlers(context);
  const test = createTestEventHandlers(context);
  const manage = "manage_webhooks";
  return [
    ["get", "/webhooks", "read", webhooks.view],
    ["post", "/webhooks/secret", manage, requireConfirmed(webhooks.setSecret), "/webhooks"],
    ["post", "/webhooks/secret/show", manage, requireConfirmed(webhooks.showSecret), "/webhooks"],
    ["post", "/webhooks/secret/rotate", manage, requireConfirmed(webhooks.rotateSecret), "/webhooks"],
    ["post", "/webhooks/secret/end-previous", manage, requireConfirmed(webhooks.endPreviousSecret), "/webhooks"],
    ["post", "/webhooks/endpoints/dismiss", manage, webhooks.dismissEndpoint, "/webhooks"],
    ["get", "/webhooks/deliveries", "read", createDeliveryList(context).list],
    ["get", "/webhooks/deliveries/:delivery_id", "read", delivery.view],
    ["post", "/webhooks/deliveries/:delivery_id/replay", manage, delivery.replay, "/webhooks/deliveries/:delivery_id"],
    ["get", "/webhooks/replay", manage, replay.ask],
    ["post", "/webhooks/replay", manage, replay.run],
    ["get", "/webhooks/test", manage, test.ask],
    ["post", "/webhooks/test", manage, test.send],
  ];
}
