import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListMonitorsResponse, Monitor } from "@vvs/proto/monitor/v1/monitor";
import { staleHint } from "../confirmed/confirmed-words.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { checkTitle, outcomeName, outcomeState } from "../ui/checks.ts";
import { asCurl } from "../ui/curl.ts";
import { until } from "../ui/dates.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { inputField, option, selectField, VERBATIM } from "../ui/fields.ts";
import { filterBox } from "../ui/filter-box.ts";
import { listing, pager } from "../ui/listing.ts";
import { breakable } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";
import type { Vendors } from "../vendors/vendors.ts";
import { hostOf } from "../webhooks/endpoints-page.ts";
import { type MonitorFilter, outcomes } from "./monitor-filter.ts";
import { frequencyName } from "./monitor-form.ts";

interface MonitorsView {
  readonly visit: Visit;
  readonly list: MonitorFilter;
  /** Undefined while unavailable. */
  readonly found: ListMonitorsResponse | undefined;
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  readonly isFirst: boolean;
  /** The API as its clients see it. */
  readonly apiBaseUrl: URL;
}

/** Shown in place of monitors while the monitor service is unavailable. */
export const monitorsUnavailable = html`<p class="notice problem" role="alert">Monitors can’t be shown, because a service is temporarily unavailable. They keep running. Try again in a moment.</p>`;

export function monitorsPage(options: MonitorsView): Html {
  const { visit, list } = options;
  const { view } = visit;
  return html`<div class="heading"><h1>Monitors</h1>
${visit.may("manage_monitors") && html`<p><a class="button" href="${view.path}/monitors/new">Create a monitor</a></p>`}</div>
${filterForm(view, list)}
${
  !list.isRefused &&
  html`<section aria-labelledby="list">
<h2 id="list">${list.isNarrowed ? "Matching monitors" : `Active ${view.name.toLowerCase()} monitors`}</h2>
${monitorList(options)}
</section>`
}
${asCurl(
  { path: "/v1/monitors" },
  { baseUrl: options.apiBaseUrl, operation: "listMonitors", id: "list-curl", label: "List monitors" },
)}`;
}

function filterForm(view: EnvironmentView, list: MonitorFilter): Html {
  const { filter, problems } = list;
  const path = `${view.path}/monitors`;
  const statusOptions = [option("", filter.status, "active"), option("canceled", filter.status)];
  const outcomeOptions = outcomes.map((each) =>
    option(each, filter.outcome, each === "unanswered" ? "no answer for a long time" : outcomeName(each)),
  );
  const unanswered = "Every run has ended in an error for longer than three periods or one day.";
  return filterBox({
    path,
    label: "Filter monitors",
    list: list,
    all: "Show all active monitors",
    fields: html`${selectField({ name: "status", label: "State", options: statusOptions, problem: problems.status })}
    ${selectField({ name: "outcome", label: "Last outcome", options: [option("", filter.outcome, "any"), ...outcomeOptions], hint: filter.outcome === "unanswered" ? unanswered : undefined, problem: problems.outcome })}
    ${inputField({ name: "entity_id", label: "Vendor ID", attributes: html` maxlength="100"${VERBATIM} placeholder="ent_…"`, value: filter.entity_id, problem: problems.entity_id })}`,
  });
}

function monitorList(options: MonitorsView): Html {
  const { visit, list, found, vendors, isFirst } = options;
  return listing(found?.monitors, {
    unavailable: monitorsUnavailable,
    empty: nothing(options),
    list: (
      monitors,
    ) => html`${!vendors && html`<p class="notice warning">Vendor names are temporarily unavailable, so vendor IDs are shown instead.</p>`}
<table class="monitors">
<thead><tr><th scope="col">Vendor</th><th scope="col">Last outcome</th><th scope="col">Checks</th><th scope="col">Frequency</th><th scope="col">Webhook</th><th scope="col">Next check</th></tr></thead>
<tbody>${monitors.map((each) => row(each, visit, vendors))}</tbody>
</table>
${pager({ path: `${visit.view.path}/monitors`, filter: list.filter, isFirst, next: found?.next })}`,
  });
}

function nothing({ visit: { view, may }, list, isFirst }: MonitorsView): Html | string {
  if (!isFirst) return "There are no older monitors.";
  if (list.isNarrowed) return "No monitors match the filter.";
  const mayManage = may("manage_monitors");
  return html`<p class="empty">No monitors yet. A monitor checks a vendor regularly and sends changes to your webhook endpoint. ${mayManage && html`<a href="${view.path}/monitors/new">Create a monitor</a>, or call <code>POST /v1/monitors</code>.`}</p>${!mayManage && permissionHint(view, "manage_monitors", "create monitors")}`;
}

function row(monitor: Monitor, { view, now }: Visit, vendors: Vendors | undefined): Html {
  const { id, entityId, externalId, webhookUrl, lastRun, consecutiveErrors, nextRunAt, staleSince } = monitor;
  const none = html`<span class="hint">none</span>`;
  return html`<tr>
<th scope="row"><a href="${view.path}/monitors/${id}">${vendors?.get(entityId)?.legalName ?? entityId}</a>${externalId && html` <span class="hint">${externalId}</span>`}</th>
<td data-label="Last outcome">${lastRun ? outcomeState(lastRun.outcome) : html`<span class="hint">none yet</span>`}${consecutiveErrors > 1 && html` <span class="hint">${consecutiveErrors} times in a row</span>`}${staleSince && html` <span class="hint">${staleHint(timestampDate(staleSince), now)}</span>`}</td>
<td data-label="Checks">${monitor.checks.map(checkTitle).join(", ")}</td>
<td data-label="Frequency">${frequencyName(monitor.frequency)}</td>
<td data-label="Webhook">${webhookUrl ? breakable(hostOf(webhookUrl)) : none}</td>
<td data-label="Next check">${nextRunAt ? until(timestampDate(nextRunAt), now) : none}</td>
</tr>
`;
}
