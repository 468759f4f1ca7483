import type { UsageCount } from "@vvs/proto/account/v1/usage";
import type { Event } from "@vvs/proto/monitor/v1/monitor";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { changeList } from "../ui/change-list.ts";
import { outcomeState } from "../ui/checks.ts";
import { listing } from "../ui/listing.ts";
import { state, timeAgo } from "../ui/parts.ts";
import { requestsPlot } from "../usage/usage-page.ts";
import type { UsageRange } from "../usage/usage-range.ts";
import type { Vendors } from "../vendors/vendors.ts";
import { type CompletedSteps, firstSteps } from "./first-steps.ts";
import { type Situation, toDoList } from "./to-do.ts";

/** The data of the overview. Each part is undefined while its service is unavailable. */
interface OverviewView {
  readonly visit: Visit;
  readonly situation: Situation;
  readonly completedSteps: CompletedSteps;
  readonly apiBaseUrl: URL;
  readonly verifications: readonly Verification[] | undefined;
  readonly events: readonly { readonly event: Event; readonly entityId: string }[] | undefined;
  readonly usage: { readonly counts: readonly UsageCount[]; readonly range: UsageRange } | undefined;
  readonly vendors: Vendors | undefined;
}

export function overviewPage(options: OverviewView): Html {
  const { view, may } = options.visit;
  return html`<div class="heading"><h1>Overview</h1>
${may("verify") && html`<p><a class="button" href="${view.path}/verifications/new">Run a verification</a></p>`}</div>
${firstSteps(options.visit, options.completedSteps, options.apiBaseUrl)}
${toDoSection(options)}
<div class="panels">
${verificationsPanel(options)}
${eventsPanel(options)}
${usagePanel(options)}
</div>`;
}

function toDoSection({ visit: { view }, situation }: OverviewView): Html {
  const items = toDoList(situation).map(
    ({ label: [className, name], text, path, action }) =>
      html`<li>${state(className, name)} ${text} <a href="${view.path}${path}">${action}</a></li>`,
  );
  // During a rollout, an earlier version does not count registrations that ended.
  const known = { ...situation, vendors: situation.vendors?.registrationEnded };
  const missing = Object.entries(parts).flatMap(([part, name]) =>
    known[part as keyof Situation] === undefined ? [name] : [],
  );
  return html`<section class="card" aria-labelledby="to-do">
<h2 id="to-do">To do today</h2>
${items.length > 0 && html`<ul class="plain attention">${items}</ul>`}
${missing.length > 0 && unavailable(`The state of ${new Intl.ListFormat("en-GB").format(missing)} is temporarily unavailable. Try again in a moment.`)}
${items.length === 0 && missing.length === 0 && html`<p>${state("pass", "nothing")} No vendor is excluded, has failed a check, lacks an answer, or has a registration that has ended or ends within 30 days. Monitors get answers, webhook endpoints accept events, and every check has a provider that answers.</p>`}
</section>`;
}

/** The parts of the situation, as the end of a sentence. */
const parts: Readonly<Record<keyof Situation, string>> = {
  vendors: "vendors",
  unanswered: "monitors",
  failingEndpoints: "webhook endpoints",
  providers: "providers",
  budgets: "budgets",
};

function usagePanel({ visit: { view }, usage }: OverviewView): Html {
  return html`<section class="wide" aria-labelledby="usage">
<div class="heading"><h2 id="usage">Requests</h2><p class="unprinted"><a href="${view.path}/usage">View usage</a></p></div>
${listing(usage?.counts, {
  unavailable: unavailable("Usage is temporarily unavailable. Requests are still counted. Try again in a moment."),
  empty: `No API requests in the ${view.name} environment in the last 24 hours.`,
  list: (counts) => requestsPlot(counts, usage!.range, "The last 24 hours, by hour (UTC)"),
})}
</section>`;
}

function verificationsPanel({ visit: { view, now }, verifications, vendors }: OverviewView): Html {
  return html`<section aria-labelledby="verifications">
<div class="heading"><h2 id="verifications">Latest verifications</h2><p class="unprinted"><a href="${view.path}/verifications">View all<span class="unseen"> verifications</span></a></p></div>
${listing(verifications, {
  unavailable: unavailable("Verifications are temporarily unavailable. None are lost. Try again in a moment."),
  empty: "No verifications yet.",
  list: (items) =>
    html`<ul class="rows">${items.map((each) => html`<li>${outcomeState(each.overallResult)} <a href="${view.path}/verifications/${each.id}">${nameOf(each.entityId, vendors)}</a> <span class="hint">${timeAgo(each.createdAt, now)}</span></li>`)}</ul>`,
})}
</section>`;
}

function eventsPanel({ visit: { view, now }, events, vendors }: OverviewView): Html {
  return html`<section aria-labelledby="events">
<div class="heading"><h2 id="events">Latest changes</h2><p class="unprinted"><a href="${view.path}/monitors">View monitors</a></p></div>
${listing(events, {
  unavailable: unavailable("Changes are temporarily unavailable. None are lost. Try again in a moment."),
  empty: "Your monitors have not found any changes yet.",
  list: (items) =>
    html`<ul class="rows">${items.map(
      ({ event, entityId }) =>
        html`<li><a href="${view.path}/monitors/${event.monitorId}">${nameOf(entityId, vendors)}</a> <span class="hint">${timeAgo(event.detectedAt, now)}</span>
${changeList(event.changes)}</li>`,
    )}</ul>`,
})}
</section>`;
}

const nameOf = (entityId: string, vendors: Vendors | undefined) => vendors?.get(entityId)?.legalName ?? entityId;

const unavailable = (text: string) => html`<p class="notice warning" role="status">${text}</p>`;
