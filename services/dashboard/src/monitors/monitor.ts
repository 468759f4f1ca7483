import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Event, ListEventsResponse, Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { EnvironmentView } from "../http/environments.ts";
import { pathId, pathWithQuery } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { unlessUnavailable, vendorName } from "../page/panels.ts";
import { changeList } from "../ui/change-list.ts";
import { asCurl } from "../ui/curl.ts";
import { listing, pager, readPosition, writePosition } from "../ui/listing.ts";
import {
  card,
  checkTitle,
  copyableId,
  facts,
  noticeOf,
  outcomeState,
  section,
  state,
  time,
  timeAgo,
  until,
} from "../ui/parts.ts";
import { noChangeText, staleText } from "../verdicts/confirmed-words.ts";
import type { ScheduledRun } from "../verdicts/read-confirmed.ts";
import { readScheduledRuns } from "../verdicts/read-confirmed.ts";
import { findMonitor, frequencyName } from "./monitor-form.ts";

const EVENTS_SHOWN = 20;

const notices = {
  changed: "The monitor was changed. Later runs are still compared with the last one.",
  canceled: "The monitor was canceled. The changes that it found are kept here.",
};

export function createMonitorHandlers(context: PageContext) {
  const { monitors, readVendors, readPanel, layout, logger, apiBaseUrl } = context;

  return {
    async view(request, response, visit) {
      const after = readPosition(request.query.after, "evt");
      const monitor = await findMonitor(context, request, visit);
      const events = { caller: visit.caller, monitorId: monitor.id, page: { limit: EVENTS_SHOWN, after } };
      const [vendors, scheduled, found] = await Promise.all([
        readVendors(visit, [monitor]),
        readPanel(visit, "scheduled checks of a monitor", (options) =>
          readScheduledRuns(context, visit, { entityIds: [monitor.entityId] }, options),
        ),
        unlessUnavailable(logger, visit, () => monitors.listEvents(events)),
      ]);
      const vendor = vendors?.get(monitor.entityId);
      const run = scheduled?.get(monitor.entityId)?.find(({ monitorId }) => monitorId === monitor.id);
      const content = html`${errorsNotice(visit.view, monitor)}
${monitor.staleSince && html`<p class="notice warning">${staleText(monitor.staleSince, visit.now)} This says nothing about the vendor. Checks go on once we have newer data.</p>`}
${card("about", "About this monitor", "unseen")`${about(visit, monitor, vendor, run)}`}
${timeline(visit, monitor, found, after === undefined)}
${asCurl(apiBaseUrl, "listMonitorEvents", "Read these changes", { path: `/v1/monitors/${monitor.id}/events` })}`;
      layout.sendPage(response, {
        ...{ visit, title: "Monitor", parents: [["/monitors", "Monitors"]], heading: vendor?.legalName, content },
        ...{ beside: beside(visit, monitor), notice: noticeOf(request, notices) },
      });
    },

    async askToCancel(request, response, visit) {
      const monitor = await findMonitor(context, request, visit);
      const name = vendorName(await readVendors(visit, [monitor]), monitor.entityId);
      const content = cancelMonitorPage(visit, monitor);
      layout.sendCard(response, { visit, title: `Cancel the monitor of ${name}?`, content });
    },

    // Repeating the form changes nothing, so it needs no token.
    async cancel(request, response, visit) {
      const monitorId = pathId(request, "monitor_id", "mon");
      await monitors.cancelMonitor({ caller: visit.caller, monitorId });
      response.redirect(303, `${visit.view.path}/monitors/${monitorId}?done=canceled`);
    },
  } satisfies PageHandlers;
}

/** Renders the state of a monitor, and what can be done with it. */
function beside({ view, may }: Visit, { id, status }: Monitor): Html {
  const path = `${view.path}/monitors/${id}`;
  return html`${state(status)}
${may("manage_monitors") && status === "active" && html`<p class="choices"><a class="button quiet" href="${path}/change">Change</a> <a class="button quiet" href="${path}/cancel">Cancel this monitor</a></p>`}`;
}

function errorsNotice(view: EnvironmentView, { status, consecutiveErrors, lastRun }: Monitor): Html | undefined {
  if (status !== "active" || consecutiveErrors === 0) return undefined;
  const runs = consecutiveErrors === 1 ? "The last run" : `The last ${consecutiveErrors} runs`;
  return html`<p class="notice warning">${runs} had no answer to a check${lastRun && html`: <a href="${view.path}/verifications/${lastRun.verificationId}">see why</a>`}. This says nothing about the vendor. The next run with an answer is compared with the last answer before the errors. <a href="${view.path}/providers">View the state of providers</a></p>`;
}

/** `run`: its last run and the scheduled checks after it; undefined where there were none, and while unavailable. */
function about(
  { view, now }: Visit,
  monitor: Monitor,
  vendor: Entity | undefined,
  run: ScheduledRun | undefined,
): Html {
  const { id, entityId, webhookUrl, externalId, lastRun, nextRunAt } = monitor;
  const confirmed = run?.confirmed;
  const deliveries = pathWithQuery(`${view.path}/webhooks/deliveries`, { monitor_id: id });
  return facts([
    ["Vendor", html`<a href="${view.path}/vendors/${entityId}">${vendor?.legalName ?? entityId}</a>`],
    ["Checks", html`<ul class="plain">${monitor.checks.map((check) => html`<li>${checkTitle(check)}</li>`)}</ul>`],
    ["Frequency", frequencyName(monitor.frequency)],
    ["Next check", nextRunAt && until(timestampDate(nextRunAt), now)],
    [
      confirmed ? "Last full check" : "Last check",
      lastRun
        ? html`${outcomeState(lastRun.outcome)} <a href="${view.path}/verifications/${lastRun.verificationId}">${timeAgo(confirmed ? run.at : lastRun.at, now)}</a>`
        : "not finished yet",
    ],
    ["Since then", confirmed && noChangeText(confirmed, now)],
    [
      "Webhook URL",
      html`${webhookUrl ? html`<code class="url">${webhookUrl}</code>` : "none"} <a href="${deliveries}">View deliveries</a>`,
    ],
    ["Your vendor number", externalId && copyableId(externalId)],
    ["Created", time(monitor.createdAt)],
    ["Monitor ID", copyableId(id)],
  ]);
}

/** Renders a page of its events; `found` is undefined while they are unavailable. */
function timeline(visit: Visit, monitor: Monitor, found: ListEventsResponse | undefined, isFirst: boolean): Html {
  return section("events", "Changes")`${listing(found?.events, {
    unavailable: html`<p class="notice warning">Changes are temporarily unavailable. None are lost. Try again in a moment.</p>`,
    empty: isFirst ? nothingYet(monitor) : "There are no older changes.",
    list: (events) => html`<ol class="timeline" reversed>${events.map((event) => eventItem(event, visit))}</ol>
${pager({ path: `${visit.view.path}/monitors/${monitor.id}`, isFirst, next: found?.next && writePosition(found.next) })}`,
  })}`;
}

function nothingYet({ status, lastRun }: Monitor): string {
  if (status !== "active") return "Nothing changed while this monitor ran.";
  if (!lastRun) return "The first run has not finished yet. Later runs are compared with it.";
  return "Nothing has changed since the first run. Changes appear here and are sent to the webhook URL.";
}

function eventItem({ id, verificationId, detectedAt, changes }: Event, { view, now }: Visit): Html {
  const deliveries = pathWithQuery(`${view.path}/webhooks/deliveries`, { event_id: id });
  return html`<li class="card event">
<div class="heading"><h3>${timeAgo(detectedAt, now)}</h3>
<p class="actions"><a href="${view.path}/verifications/${verificationId}">View verification<span class="unseen"> of ${id}</span></a> <a href="${deliveries}">View deliveries<span class="unseen"> of ${id}</span></a></p></div>
${changeList(changes)}
<p class="hint">Event ${copyableId(id)}</p>
</li>
`;
}

/** The question that is asked before a monitor is canceled. */
function cancelMonitorPage({ view }: Visit, { id, status }: Monitor): Html {
  const path = `${view.path}/monitors/${id}`;
  if (status !== "active") {
    return html`<p>This monitor is already canceled.</p>
<p><a class="button" href="${path}">Go back to the monitor</a></p>`;
  }
  return html`<p>The ${view.name.toLowerCase()} monitor <code>${id}</code> will stop running and report no more changes. Changes that it already found are kept, and their deliveries continue and can be replayed. You can’t restart it, but you can create a new monitor.</p>
<form method="post" action="${path}/cancel" class="choices">
  <button class="danger">Cancel monitor</button>
  <a class="button quiet" href="${path}">Keep monitor</a>
</form>`;
}
