import type { ListMonitorsResponse, Monitor } from "@vvs/proto/monitor/v1/monitor";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { checkName, statusName } from "../ui/checks.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { inputField, option, selectField, VERBATIM } from "../ui/fields.ts";
import { filterBox } from "../ui/filter-box.ts";
import { listing, pager } from "../ui/listing.ts";
import { state, time } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";
import type { Vendors } from "../vendors/vendors.ts";
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
}`;
}

function filterForm(view: EnvironmentView, list: MonitorFilter): Html {
  const { filter, problems } = list;
  const path = `${view.path}/monitors`;
  const statusOptions = [option("", filter.status, "active"), option("canceled", filter.status)];
  const outcomeOptions = [option("", filter.outcome, "any"), ...outcomes.map((each) => option(each, filter.outcome))];
  const unanswered = "Every run has ended in an error for longer than three periods or one day.";
  return filterBox({
    path,
    label: "Filter monitors",
    list: list,
    all: "Show all active monitors",
    fields: html`${selectField({ name: "status", label: "State", options: statusOptions, problem: problems.status })}
    ${selectField({ name: "outcome", label: "Last outcome", options: outcomeOptions, hint: filter.outcome === "unanswered" ? unanswered : undefined, problem: problems.outcome })}
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
<table>
<thead><tr><th scope="col">Vendor</th><th scope="col">State</th><th scope="col">Last outcome</th><th scope="col">Frequency</th><th scope="col">Next run</th></tr></thead>
<tbody>${monitors.map((each) => row(each, visit.view, vendors))}</tbody>
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

function row(monitor: Monitor, view: EnvironmentView, vendors: Vendors | undefined): Html {
  const { id, entityId, lastRun, consecutiveErrors } = monitor;
  return html`<tr>
<th scope="row"><a href="${view.path}/monitors/${id}">${vendors?.get(entityId)?.legalName ?? entityId}</a></th>
<td data-label="State">${state(monitor.status)}</td>
<td data-label="Last outcome">${lastRun ? state(statusName(lastRun.outcome)) : html`<span class="hint">none yet</span>`}${consecutiveErrors > 1 && html` <span class="hint">${consecutiveErrors} times in a row</span>`}</td>
<td data-label="Frequency">${frequencyName(monitor.frequency)} <ul class="plain hint checks">${monitor.checks.map((check) => html`<li><code>${checkName(check)}</code></li>`)}</ul></td>
<td data-label="Next run">${monitor.nextRunAt ? time(monitor.nextRunAt) : html`<span class="hint">none</span>`}</td>
</tr>
`;
}
