import type { Delivery } from "@vvs/proto/webhook/v1/webhook";
import type { Endpoints } from "../endpoints.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import type { Vendors } from "../vendors.ts";
import { deliveryTable, noDeliveries } from "./deliveries.ts";
import { deliveriesAway } from "./deliveries-away.ts";
import { endpointsSection } from "./endpoints.ts";
import { type Notice, noticeBox } from "./parts.ts";
import { type WebhookSecretView, webhookSecretSection } from "./webhook-secret.ts";

/** The newest deliveries. */
export interface RecentDeliveries {
  readonly deliveries: readonly Delivery[];
  /** Undefined where they can't be had at the moment. */
  readonly vendors: Vendors | undefined;
}

export function webhooksPage(
  options: WebhookSecretView & {
    /** Undefined where they can't be had at the moment. */
    recent: RecentDeliveries | undefined;
    /** Undefined where they can't be had at the moment. */
    endpoints: Endpoints | undefined;
    notice?: Notice;
  },
): Html {
  const { view, mayManage } = options;
  return html`<div class="heading"><h1>Webhooks</h1>
<p class="choices"><a class="button quiet" href="${view.path}/webhooks/deliveries">All deliveries</a>${mayManage && html` <a class="button" href="${view.path}/webhooks/test">Send a test event</a>`}</p></div>
${noticeBox(options.notice)}
${webhookSecretSection(options)}
${recentSection(view, options.recent)}
${endpointsSection(view, options.endpoints, mayManage)}`;
}

function recentSection(view: EnvironmentView, recent: RecentDeliveries | undefined): Html {
  return html`<section aria-labelledby="deliveries">
<h2 id="deliveries">Newest deliveries</h2>
${recent ? newest(view, recent) : deliveriesAway}
</section>`;
}

function newest(view: EnvironmentView, { deliveries, vendors }: RecentDeliveries): Html {
  if (deliveries.length === 0) return noDeliveries;
  return html`${deliveryTable(deliveries, { view, vendors })}
<p class="actions"><a href="${view.path}/webhooks/deliveries">All deliveries</a> <a href="${view.path}/webhooks/deliveries?status=failed">Those that failed</a> <a href="${view.path}/webhooks/deliveries?tests=only">Tests</a></p>`;
}
