import type { ListMonitorsResponse, Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Vendors } from "../entities/vendors.ts";
import { type Html, html } from "../http/html.ts";
import { checkName, statusName } from "../ui/checks.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { writePosition } from "../ui/list-position.ts";
import { state, time } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";
import { type MonitorFilter, type MonitorFilterProblems, outcomes } from "./monitor-filter.ts";
import { frequencyName } from "./monitor-form.ts";

export interface MonitorsView {
  readonly view: EnvironmentView;
  readonly mayManage: boolean;
  readonly filter: MonitorFilter;
  readonly problems: MonitorFilterProblems;
  /** Undefined while unavailable. */
  readonly found: Pick<ListMonitorsResponse, "monitors" | "next"> | undefined;
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  readonly isFirst: boolean;
}

const UNAVAILABLE = html`<p class="notice problem" role="alert">Monitors can’t be shown, because a service is temporarily unavailable. They keep running. Try again in a moment.</p>`;

export function monitorsPage(options: MonitorsView): Html {
  const { view, mayManage, problems, found } = options;
  return html`<div class="heading"><h1>Monitors</h1>
${mayManage && html`<p><a class="button" href="${view.path}/monitors/new">Create a monitor</a></p>`}</div>
${filterForm(options)}
${
  Object.keys(problems).length === 0 &&
  html`<section aria-labelledby="list">
<h2 id="list">${isNarrowed(options) ? "Matching monitors" : `Active ${view.name.toLowerCase()} monitors`}</h2>
${found ? list(options, found) : UNAVAILABLE}
</section>`
}`;
}

/** The content of a page about monitors while the monitor service is unavailable. */
export function monitorsUnavailablePage(title: string): Html {
  return html`<h1>${title}</h1>
${UNAVAILABLE}`;
}

const isNarrowed = ({ filter }: MonitorsView) => Object.values(filter).some((value) => value !== "");

function filterForm(options: MonitorsView): Html {
  const { view, filter, problems } = options;
  return html`<form method="get" action="${view.path}/monitors" class="card filters" role="search" aria-label="Filter monitors">
  <div class="columns">
    <div class="field">
    <label for="status">State</label>
    <select id="status" name="status">
      <option value="">active</option>
      <option${filter.status === "canceled" && html` selected`}>canceled</option>
    </select>
    ${problemOf("status", problems)}
    </div>
    <div class="field">
    <label for="outcome">Last outcome</label>
    <select id="outcome" name="outcome">
      <option value="">any</option>
      ${outcomes.map((each) => html`<option${each === filter.outcome && html` selected`}>${each}</option>`)}
    </select>
    ${filter.outcome === "unanswered" && html`<p class="hint">Every run has ended in an error for longer than three periods or one day.</p>`}
    ${problemOf("outcome", problems)}
    </div>
    <div class="field">
    <label for="entity_id">Entity ID</label>
    <input id="entity_id" name="entity_id" maxlength="100" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="ent_…" value="${filter.entity_id}"${problems.entity_id && html` aria-invalid="true" aria-describedby="entity_id-problem"`}>
    ${problemOf("entity_id", problems)}
    </div>
  </div>
  <div class="choices"><button class="quiet">Filter</button>
  ${(isNarrowed(options) || Object.keys(problems).length > 0) && html`<a href="${view.path}/monitors">Show all active monitors</a>`}</div>
</form>`;
}

function problemOf(name: keyof MonitorFilter, problems: MonitorFilterProblems): Html | undefined {
  const problem = problems[name];
  return problem === undefined ? undefined : html`<p class="field-problem" id="${name}-problem">${problem}</p>`;
}

function list(options: MonitorsView, found: NonNullable<MonitorsView["found"]>): Html {
  const { view, vendors } = options;
  if (found.monitors.length === 0) return nothing(options);
  return html`${!vendors && html`<p class="notice warning">Vendor names are temporarily unavailable, so entity IDs are shown instead.</p>`}
<table>
<thead><tr><th scope="col">Vendor</th><th scope="col">State</th><th scope="col">Last outcome</th><th scope="col">Frequency</th><th scope="col">Next run</th></tr></thead>
<tbody>${found.monitors.map((each) => row(each, view, vendors))}</tbody>
</table>
${pager(options, found.next)}`;
}

function nothing(options: MonitorsView): Html {
  const { view, mayManage, isFirst } = options;
  if (!isFirst) return html`<p class="empty">There are no older monitors.</p>`;
  if (isNarrowed(options)) return html`<p class="empty">No monitors match the filter.</p>`;
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

function pager({ view, filter, isFirst }: MonitorsView, next: ListMonitorsResponse["next"]): Html {
  const path = (query: Record<string, string>) => {
    const given = Object.entries(filter).filter(([, value]) => value !== "");
    const search = new URLSearchParams({ ...Object.fromEntries(given), ...query }).toString();
    return `${view.path}/monitors${search && `?${search}`}`;
  };
  return html`<nav class="pager" aria-label="Pages">
${!isFirst && html`<a class="button quiet" href="${path({})}">Newest</a>`}
${next && html`<a class="button quiet" href="${path({ after: writePosition(next) })}" rel="next">Older</a>`}
</nav>`;
}
