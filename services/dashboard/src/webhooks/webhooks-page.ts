import type { Delivery } from "@vvs/proto/webhook/v1/webhook";
import type { Vendors } from "../entities/vendors.ts";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { type Notice, noticeBox } from "../ui/parts.ts";
import { deliveryTable, noDeliveries } from "./deliveries-page.ts";
import { deliveriesUnavailable } from "./deliveries-unavailable.ts";
import type { Endpoints } from "./endpoints.ts";
import { endpointsSection } from "./endpoints-page.ts";
import { type WebhookSecretView, webhookSecretSection } from "./webhook-secret-page.ts";

/** The newest deliveries with their vendors. */
export interface RecentDeliveries {
  readonly deliveries: readonly Delivery[];
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
}

export function webhooksPage(
  options: WebhookSecretView & {
    /** Undefined while unavailable. */
    recent: RecentDeliveries | undefined;
    /** Undefined while unavailable. */
    endpoints: Endpoints | undefined;
    notice?: Notice;
  },
): Html {
  const { view, mayManage } = options;
  return html`<div class="heading"><h1>Webhooks</h1>
<p class="choices"><a class="button quiet" href="${view.path}/webhooks/deliveries">View all deliveries</a>${mayManage && html` <a class="button" href="${view.path}/webhooks/test">Send a test event</a>`}</p></div>
${noticeBox(options.notice)}
${webhookSecretSection(options)}
${recentSection(view, options.recent)}
${endpointsSection(view, options.endpoints, mayManage)}`;
}

function recentSection(view: EnvironmentView, recent: RecentDeliveries | undefined): Html {
  return html`<section aria-labelledby="deliveries">
<h2 id="deliveries">Latest deliveries</h2>
${recent ? newest(view, recent) : deliveriesUnavailable}
</section>`;
}

function newest(view: EnvironmentView, { deliveries, vendors }: RecentDeliveries): Html {
  if (deliveries.length === 0) return noDeliveries;
  return html`${deliveryTable(deliveries, { view, vendors })}
<p class="actions"><a href="${view.path}/webhooks/deliveries">View all deliveries</a> <a href="${view.path}/webhooks/deliveries?status=failed">View failed deliveries</a> <a href="${view.path}/webhooks/deliveries?tests=only">View test events</a></p>`;
}
