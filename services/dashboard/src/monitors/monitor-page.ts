import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Change, Event, ListEventsResponse, Monitor } from "@vvs/proto/monitor/v1/monitor";
import { type Html, html } from "../http/html.ts";
import { checkName, statusName } from "../ui/checks.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { writePosition } from "../ui/list-position.ts";
import { facts, type Notice, noticeBox, state, time } from "../ui/parts.ts";
import { frequencyName } from "./monitor-form.ts";

export interface MonitorView {
  readonly view: EnvironmentView;
  readonly mayManage: boolean;
  readonly monitor: Monitor;
  /** Undefined while unavailable. */
  readonly vendor: Entity | undefined;
  /** A page of its events; undefined while unavailable. */
  readonly found: Pick<ListEventsResponse, "events" | "next"> | undefined;
  readonly isFirst: boolean;
  readonly notice?: Notice;
}

export function monitorPage(options: MonitorView): Html {
  const { view, mayManage, monitor, vendor, notice } = options;
  const isActive = monitor.status === "active";
  return html`<p class="path"><a href="${view.path}/monitors">Monitors</a></p>
<div class="heading"><h1>${vendor?.legalName ?? "Monitor"}</h1> ${state(monitor.status)}
${mayManage && isActive && html`<p class="choices"><a class="button quiet" href="${view.path}/monitors/${monitor.id}/change">Change</a> <a class="button quiet" href="${view.path}/monitors/${monitor.id}/cancel">Cancel this monitor</a></p>`}</div>
${noticeBox(notice)}
${errorsNotice(view, monitor)}
<section class="card" aria-labelledby="about">
<h2 id="about" class="unseen">About this monitor</h2>
${about(view, monitor)}
</section>
${timeline(options)}`;
}

function errorsNotice(view: EnvironmentView, { status, consecutiveErrors }: Monitor): Html | undefined {
  if (status !== "active" || consecutiveErrors === 0) return undefined;
  const runs = consecutiveErrors === 1 ? "The last run" : `The last ${consecutiveErrors} runs`;
  return html`<p class="notice warning">${runs} ended in <code>error</code>, because no provider could answer. This says nothing about the vendor. The next run with an answer is compared with the last answer before the errors. <a href="${view.path}/providers">View the state of providers</a></p>`;
}

function about(view: EnvironmentView, monitor: Monitor): Html {
  const { id, entityId, webhookUrl, lastRun } = monitor;
  const search = new URLSearchParams({ monitor_id: id }).toString();
  return facts([
    ["Monitor ID", html`<code>${id}</code>`],
    ["Entity", html`<a href="${view.path}/entities/${entityId}"><code>${entityId}</code></a>`],
    [
      "Checks",
      html`<ul class="plain">${monitor.checks.map((check) => html`<li><code>${checkName(check)}</code></li>`)}</ul>`,
    ],
    ["Frequency", frequencyName(monitor.frequency)],
    ["Next run", time(monitor.nextRunAt, "second")],
    [
      "Last run",
      lastRun
        ? html`${state(statusName(lastRun.outcome))} <a href="${view.path}/verifications/${lastRun.verificationId}">${time(lastRun.at, "second")}</a>`
        : "not finished yet",
    ],
    [
      "Webhook URL",
      html`${webhookUrl ? html`<code class="url">${webhookUrl}</code>` : "none"} <a href="${view.path}/webhooks/deliveries?${search}">View deliveries</a>`,
    ],
    ["Created", time(monitor.createdAt, "second")],
  ]);
}

function timeline(options: MonitorView): Html {
  const { found } = options;
  return html`<section aria-labelledby="events">
<h2 id="events">Changes</h2>
${found ? events(options, found) : html`<p class="notice warning">Changes are temporarily unavailable. None are lost. Try again in a moment.</p>`}
</section>`;
}

function events(options: MonitorView, { events: items, next }: NonNullable<MonitorView["found"]>): Html {
  const { view, monitor, isFirst } = options;
  if (items.length === 0)
    return html`<p class="empty">${isFirst ? nothingYet(monitor) : "There are no older changes."}</p>`;
  const path = `${view.path}/monitors/${monitor.id}`;
  return html`<ol class="timeline" reversed>${items.map((each) => eventItem(each, view))}</ol>
<nav class="pager" aria-label="Pages">
${!isFirst && html`<a class="button quiet" href="${path}">Newest</a>`}
${next && html`<a class="button quiet" href="${path}?${new URLSearchParams({ after: writePosition(next) }).toString()}" rel="next">Older</a>`}
</nav>`;
}

function nothingYet({ status, lastRun }: Monitor): string {
  if (status !== "active") return "Nothing changed while this monitor ran.";
  if (!lastRun) return "The first run has not finished yet. Later runs are compared with it.";
  return "Nothing has changed since the first run. Changes appear here and are sent to the webhook URL.";
}

function eventItem(event: Event, view: EnvironmentView): Html {
  const { id, monitorId, verificationId, detectedAt, changes } = event;
  return html`<li class="card event">
<div class="heading"><h3>${time(detectedAt, "second")}</h3>
<p class="actions"><a href="${view.path}/verifications/${verificationId}">View verification<span class="unseen"> of ${id}</span></a> <a href="${view.path}/webhooks/deliveries?${deliveriesQuery(event, monitorId)}">View deliveries<span class="unseen"> of ${id}</span></a></p></div>
<table class="changed">
<thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${changes.map(changeRow)}</tbody>
</table>
<p class="hint"><code>${id}</code></p>
</li>
`;
}

function changeRow({ field, previous, current }: Change): Html {
  const none = html`<span class="hint">none</span>`;
  return html`<tr><th scope="row"><code>${field}</code></th><td data-label="Before">${previous === undefined ? none : html`<del>${previous}</del>`}</td><td data-label="After">${current === undefined ? none : html`<ins>${current}</ins>`}</td></tr>
`;
}

const MINUTE_MS = 60_000;

/** Returns a filter for deliveries of the monitor around the time of the event: a delivery is created shortly after its event. */
function deliveriesQuery({ detectedAt }: Event, monitorId: string): string {
  const at = timestampDate(detectedAt!).getTime();
  const minute = (ms: number) => new Date(ms).toISOString().slice(0, 16);
  return new URLSearchParams({
    monitor_id: monitorId,
    from: minute(at - MINUTE_MS),
    to: minute(at + 10 * MINUTE_MS),
  }).toString();
}
