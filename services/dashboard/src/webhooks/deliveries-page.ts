import type { Delivery, ListDeliveriesResponse } from "@vvs/proto/webhook/v1/webhook";
import { type Html, html } from "../http/html.ts";
import { pathWithQuery } from "../http/paths.ts";
import type { Visit } from "../http/session.ts";
import { changeList } from "../ui/change-list.ts";
import { asCurl } from "../ui/curl.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { inputField, option, problemLine, selectField, VERBATIM } from "../ui/fields.ts";
import { filterBox } from "../ui/filter-box.ts";
import { listing, pager } from "../ui/listing.ts";
import { breakable, type Notice, noticeBox, state, timeAgo } from "../ui/parts.ts";
import type { Vendors } from "../vendors/vendors.ts";
import { attemptCount, briefOutcome, deliveryState, durationText } from "./attempts.ts";
import { type DeliveryFilter, statuses } from "./delivery-filter.ts";

interface DeliveriesView {
  readonly visit: Visit;
  readonly list: DeliveryFilter;
  /** Undefined while unavailable. */
  readonly found: ListDeliveriesResponse | undefined;
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  readonly isFirst: boolean;
  readonly notice: Notice | undefined;
  /** The API as its clients see it. */
  readonly apiBaseUrl: URL;
}

/** Shown in place of deliveries while the webhook dispatcher is unavailable. */
export const deliveriesUnavailable = html`<p class="notice problem" role="alert">Deliveries can’t be shown, because a service is temporarily unavailable. Events are not lost. Try again in a moment.</p>`;

export const WEBHOOK_URL_INPUT = html` type="text" maxlength="2048"${VERBATIM} placeholder="https://…"`;
export const MONITOR_ID_INPUT = html` type="text" maxlength="2048"${VERBATIM} placeholder="mon_…"`;
const EVENT_ID_INPUT = html` type="text" maxlength="2048"${VERBATIM} placeholder="evt_…"`;
export const TIME_INPUT = html` type="datetime-local" maxlength="2048"${VERBATIM}`;

export function deliveriesPage(options: DeliveriesView): Html {
  const { visit, list } = options;
  const { view } = visit;
  const { monitor_id, url, from } = list.filter;
  const replay = pathWithQuery(`${view.path}/webhooks/replay`, { monitor_id, url, since: from });
  return html`<p class="path"><a href="${view.path}/webhooks">Webhooks</a></p>
<div class="heading"><h1>Deliveries</h1>
${visit.may("manage_webhooks") && html`<p class="choices"><a class="button quiet" href="${view.path}/webhooks/test">Send a test event</a> <a class="button quiet" href="${replay}">Replay failed deliveries</a></p>`}</div>
${noticeBox(options.notice)}
${filterForm(view, list)}
${
  !list.isRefused &&
  html`<section aria-labelledby="list">
<h2 id="list">${list.isNarrowed ? "Matching deliveries" : `All ${view.name.toLowerCase()} deliveries`}</h2>
${deliveryList(options)}
</section>`
}
${asCurl(
  { path: "/v1/events" },
  { baseUrl: options.apiBaseUrl, operation: "listEvents", id: "events-curl", label: "List all events" },
)}`;
}

function filterForm(view: EnvironmentView, list: DeliveryFilter): Html {
  const { filter, problems } = list;
  const path = `${view.path}/webhooks/deliveries`;
  const chosen = filter.status === "failing" ? "failed" : filter.status;
  const options = [
    option("", chosen, "any"),
    ...Object.entries(statuses).map(([value, text]) => option(value, chosen, text)),
  ];
  const textField = (name: "event_id" | "monitor_id" | "url" | "from" | "to", label: string, attributes: Html) =>
    inputField({ name, label, attributes, value: filter[name], problem: problems[name] });
  return filterBox({
    path,
    label: "Filter deliveries",
    list: list,
    fields: html`${selectField({ name: "status", label: "State", options, hint: "Failing ones have failed, or wait for a retry.", problem: problems.status })}
    ${textField("event_id", "Event ID", EVENT_ID_INPUT)}
    ${textField("monitor_id", "Monitor ID", MONITOR_ID_INPUT)}
    ${textField("url", "Webhook URL", WEBHOOK_URL_INPUT)}
    ${textField("from", "From (UTC)", TIME_INPUT)}
    ${textField("to", "Before (UTC)", TIME_INPUT)}
    <div class="field">
    <label class="check below"><input type="checkbox" name="tests" value="only"${filter.tests === "only" && html` checked`}> <span>Only test events</span></label>
    ${problemLine("tests", problems.tests)}
    </div>`,
  });
}

function deliveryList({ visit, list, found, vendors, isFirst }: DeliveriesView): Html {
  return listing(found?.deliveries, {
    unavailable: deliveriesUnavailable,
    empty: !isFirst
      ? "There are no older deliveries."
      : list.isNarrowed
        ? "No deliveries match the filter."
        : NO_DELIVERIES,
    list: (deliveries) => html`${deliveryTable(deliveries, visit, vendors)}
${pager({ path: `${visit.view.path}/webhooks/deliveries`, filter: list.filter, isFirst, next: found?.next })}`,
  });
}

/** Shown while there are no deliveries at all. */
export const NO_DELIVERIES =
  "No deliveries yet. When a monitor finds a change, its event appears here with every attempt to deliver it.";

/** Renders deliveries with their changes, state and attempts. */
export function deliveryTable(deliveries: readonly Delivery[], visit: Visit, vendors: Vendors | undefined): Html {
  return html`<table class="delivery-list">
<thead><tr><th scope="col">Event</th><th scope="col">State</th><th scope="col">Webhook URL</th><th scope="col">Attempts</th><th scope="col">Time</th></tr></thead>
<tbody>${deliveries.map((each) => row(each, visit, vendors))}</tbody>
</table>`;
}

function row(delivery: Delivery, { view, now }: Visit, vendors: Vendors | undefined): Html {
  const { id, test, entityId, attempts } = delivery;
  const last = attempts.at(-1);
  const name = test ? "Test event" : (vendors?.get(entityId)?.legalName ?? entityId);
  return html`<tr>
<th scope="row"><a href="${view.path}/webhooks/deliveries/${id}">${name}</a><div class="hint">${changeList(delivery.changes)}</div></th>
<td data-label="State">${deliveryState(delivery)}${test && html` ${state("test")}`}</td>
<td data-label="Webhook URL"><code class="url">${breakable(delivery.webhookUrl)}</code></td>
<td data-label="Attempts">${attempts.length > 0 && attemptCount(attempts.length)}${last && html`<span class="hint block">${briefOutcome(last)}, ${durationText(last.durationMs)}</span>`}${attempts.length === 0 && html`<span class="hint">none yet</span>`}</td>
<td data-label="Time">${timeAgo(delivery.createdAt, now)}</td>
</tr>
`;
}
