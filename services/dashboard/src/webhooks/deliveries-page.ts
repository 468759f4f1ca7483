import type { DeliveredChange, Delivery, ListDeliveriesResponse } from "@vvs/proto/webhook/v1/webhook";
import type { Vendors } from "../entities/vendors.ts";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { writePosition } from "../ui/list-position.ts";
import { type Notice, noticeBox, state, time } from "../ui/parts.ts";
import { attemptCount, briefOutcome, durationText } from "./attempts.ts";
import { deliveriesUnavailable } from "./deliveries-unavailable.ts";
import {
  type DeliveryFilter,
  type FilterField,
  type FilterProblems,
  statuses,
  writeDeliveryFilter,
} from "./delivery-filter.ts";

export interface DeliveriesView {
  readonly view: EnvironmentView;
  readonly mayManage: boolean;
  readonly filter: DeliveryFilter;
  readonly problems: FilterProblems;
  /** Undefined while unavailable. */
  readonly found: Pick<ListDeliveriesResponse, "deliveries" | "next"> | undefined;
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  readonly isFirst: boolean;
  readonly notice?: Notice;
}

export function deliveriesPage(options: DeliveriesView): Html {
  const { view, mayManage } = options;
  const isNarrowed = Object.keys(writeDeliveryFilter(options.filter)).length > 0;
  return html`<p class="path"><a href="${view.path}/webhooks">Webhooks</a></p>
<div class="heading"><h1>Deliveries</h1>
${mayManage && html`<p class="choices"><a class="button quiet" href="${view.path}/webhooks/test">Send a test event</a> <a class="button quiet" href="${replayPath(options)}">Replay failed deliveries</a></p>`}</div>
${noticeBox(options.notice)}
${filterForm(options, isNarrowed)}
${Object.keys(options.problems).length === 0 && listSection(options, isNarrowed)}`;
}

function listSection(options: DeliveriesView, isNarrowed: boolean): Html {
  const { view, found } = options;
  return html`<section aria-labelledby="list">
<h2 id="list">${isNarrowed ? "Matching deliveries" : `All ${view.name.toLowerCase()} deliveries`}</h2>
${found ? list(options, found, isNarrowed) : deliveriesUnavailable}
</section>`;
}

function replayPath({ view, filter }: DeliveriesView): string {
  const { monitor_id, url, from } = filter;
  const search = new URLSearchParams(writeDeliveryFilter({ monitor_id, url, since: from } as object)).toString();
  return `${view.path}/webhooks/replay${search && `?${search}`}`;
}

function filterForm({ view, filter, problems }: DeliveriesView, isNarrowed: boolean): Html {
  const isRefused = Object.keys(problems).length > 0;
  return html`<form method="get" action="${view.path}/webhooks/deliveries" class="card filters" role="search" aria-label="Filter deliveries">
  <div class="columns">
    <div class="field">
    <label for="status">State</label>
    <select id="status" name="status">
      <option value="">any</option>
      ${statuses.map((each) => html`<option${each === filter.status && html` selected`}>${each}</option>`)}
    </select>
    ${problemOf("status", problems)}
    </div>
    ${textField({ name: "monitor_id", label: "Monitor ID", placeholder: "mon_…", filter, problems })}
    ${textField({ name: "url", label: "Webhook URL", placeholder: "https://…", filter, problems })}
    ${textField({ name: "from", label: "From (UTC)", type: "datetime-local", filter, problems })}
    ${textField({ name: "to", label: "Before (UTC)", type: "datetime-local", filter, problems })}
    <div class="field">
    <label class="check below"><input type="checkbox" name="tests" value="only"${filter.tests === "only" && html` checked`}> <span>Only test events</span></label>
    ${problemOf("tests", problems)}
    </div>
  </div>
  <div class="row">
    <button>Filter</button>
    ${(isNarrowed || isRefused) && html`<a href="${view.path}/webhooks/deliveries">Show all</a>`}
  </div>
</form>`;
}

function textField(options: {
  name: FilterField;
  label: string;
  type?: string;
  placeholder?: string;
  filter: DeliveryFilter;
  problems: FilterProblems;
}): Html {
  const { name, label, type = "text", placeholder, filter, problems } = options;
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input type="${type}" id="${name}" name="${name}" maxlength="2048" autocomplete="off" autocapitalize="off" spellcheck="false"${placeholder && html` placeholder="${placeholder}"`} value="${filter[name]}"${problems[name] && html` aria-invalid="true" aria-describedby="${name}-problem"`}>
    ${problemOf(name, problems)}
    </div>`;
}

function problemOf(name: FilterField, problems: FilterProblems): Html | undefined {
  return problems[name] ? html`<p class="field-problem" id="${name}-problem">${problems[name]}</p>` : undefined;
}

function list(options: DeliveriesView, found: NonNullable<DeliveriesView["found"]>, isNarrowed: boolean): Html {
  if (found.deliveries.length === 0) return nothing(options, isNarrowed);
  return html`${deliveryTable(found.deliveries, options)}
${pager(options, found.next)}`;
}

function nothing({ isFirst }: DeliveriesView, isNarrowed: boolean): Html {
  if (!isFirst) return html`<p class="empty">There are no older deliveries.</p>`;
  if (isNarrowed) return html`<p class="empty">No deliveries match the filter.</p>`;
  return noDeliveries;
}

/** Shown while there are no deliveries at all. */
export const noDeliveries: Html = html`<p class="empty">No deliveries yet. When a monitor finds a change, its event appears here with every attempt to deliver it.</p>`;

/** Renders deliveries with their changes, state and attempts. */
export function deliveryTable(
  deliveries: readonly Delivery[],
  { view, vendors }: Pick<DeliveriesView, "view" | "vendors">,
): Html {
  return html`<table class="delivery-list">
<thead><tr><th scope="col">Event</th><th scope="col">State</th><th scope="col">Webhook URL</th><th scope="col">Attempts</th><th scope="col">Time</th></tr></thead>
<tbody>${deliveries.map((each) => row(each, view, vendors))}</tbody>
</table>`;
}

function row(delivery: Delivery, view: EnvironmentView, vendors: Vendors | undefined): Html {
  const { id, test, entityId, attempts } = delivery;
  const last = attempts.at(-1);
  const name = test ? "Test event" : (vendors?.get(entityId)?.legalName ?? entityId);
  return html`<tr>
<th scope="row"><a href="${view.path}/webhooks/deliveries/${id}">${name}</a>${changeList(delivery.changes)}</th>
<td data-label="State">${state(delivery.status)}${test && html` ${state("test")}`}</td>
<td data-label="Webhook URL"><code class="url">${delivery.webhookUrl}</code></td>
<td data-label="Attempts">${attempts.length > 0 && attemptCount(attempts.length)}${last && html`<span class="hint block">${briefOutcome(last)}, ${durationText(last.durationMs)}</span>`}${attempts.length === 0 && html`<span class="hint">none yet</span>`}</td>
<td data-label="Time">${time(delivery.createdAt, "second")}</td>
</tr>
`;
}

function changeList(changes: readonly DeliveredChange[]): Html {
  return html`<ul class="plain changes">${changes.map(({ field, previous, current }) => html`<li class="hint"><code>${field}</code> ${previous ?? "none"} → ${current ?? "none"}</li>`)}</ul>`;
}

function pager({ view, filter, isFirst }: DeliveriesView, next: ListDeliveriesResponse["next"]): Html {
  const path = (query: Record<string, string>) => {
    const search = new URLSearchParams({ ...writeDeliveryFilter(filter), ...query }).toString();
    return `${view.path}/webhooks/deliveries${search && `?${search}`}`;
  };
  return html`<nav class="pager" aria-label="Pages">
${!isFirst && html`<a class="button quiet" href="${path({})}">Newest</a>`}
${next && html`<a class="button quiet" href="${path({ after: writePosition(next) })}" rel="next">Older</a>`}
</nav>`;
}
