import type { Delivery } from "@vvs/proto/webhook/v1/webhook";
import { type Html, html } from "../http/html.ts";
import { listing } from "../ui/listing.ts";
import { type Notice, noticeBox } from "../ui/parts.ts";
import type { Vendors } from "../vendors/vendors.ts";
import { deliveriesUnavailable, deliveryTable, NO_DELIVERIES } from "./deliveries-page.ts";
import type { Endpoints } from "./endpoints.ts";
import { endpointsSection } from "./endpoints-page.ts";
import { type WebhookSecretView, webhookSecretSection } from "./webhook-secret-page.ts";

interface WebhooksView extends WebhookSecretView {
  /** The newest deliveries; undefined while unavailable. */
  readonly deliveries: readonly Delivery[] | undefined;
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  /** Undefined while unavailable. */
  readonly endpoints: Endpoints | undefined;
  readonly notice?: Notice;
}

export function webhooksPage(options: WebhooksView): Html {
  const { view, may } = options.visit;
  const path = `${view.path}/webhooks`;
  const mayManage = may("manage_webhooks");
  return html`<div class="heading"><h1>Webhooks</h1>
<p class="choices"><a class="button quiet" href="${path}/deliveries">View all deliveries</a>${mayManage && html` <a class="button" href="${path}/test">Send a test event</a>`}</p></div>
${noticeBox(options.notice)}
${webhookSecretSection(options)}
<section aria-labelledby="deliveries">
<h2 id="deliveries">Latest deliveries</h2>
${listing(options.deliveries, {
  unavailable: deliveriesUnavailable,
  empty: NO_DELIVERIES,
  list: (deliveries) => html`${deliveryTable(deliveries, options.visit, options.vendors)}
<p class="actions"><a href="${path}/deliveries">View all deliveries</a> <a href="${path}/deliveries?status=failed">View failing deliveries</a> <a href="${path}/deliveries?tests=only">View test events</a></p>`,
})}
</section>
${endpointsSection(options.visit, options.endpoints)}`;
}
