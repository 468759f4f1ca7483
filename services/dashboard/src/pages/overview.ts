import type { UsageCount } from "@vvs/proto/account/v1/account";
import type { Event, Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Provider, Verification } from "@vvs/proto/verification/v1/verification";
import type { Endpoint } from "@vvs/proto/webhook/v1/webhook";
import { statusName } from "../checks.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { UsageRange } from "../usage.ts";
import type { Vendors } from "../vendors.ts";
import { type Begun, firstSteps } from "./first-steps.ts";
import { state, time } from "./parts.ts";
import { requestsPlot } from "./usage.ts";
import { providerName } from "./vocabulary.ts";

/** Each part is undefined where it can't be had at the moment. */
export interface OverviewView {
  readonly view: EnvironmentView;
  readonly may: Visit["may"];
  readonly attention: {
    /** Those that fail. */
    readonly endpoints: readonly Endpoint[] | undefined;
    /** Those whose last run came to an error. */
    readonly monitors: readonly Monitor[] | undefined;
    /** All of them. */
    readonly providers: readonly Provider[] | undefined;
  };
  readonly begun: Begun;
  readonly verifications: readonly Verification[] | undefined;
  readonly events: readonly { readonly event: Event; readonly entityId: string }[] | undefined;
  readonly usage: { readonly counts: readonly UsageCount[]; readonly range: UsageRange } | undefined;
  readonly vendors: Vendors | undefined;
}

export function overviewPage(options: OverviewView): Html {
  const { view, may, begun } = options;
  return html`<div class="heading"><h1>Overview</h1>
${may("verify") && html`<p><a class="button" href="${view.path}/verifications/new">Run a verification</a></p>`}</div>
${firstSteps({ view, may }, begun)}
${attentionSection(options)}
<div class="panels">
${usagePanel(options)}
${verificationsPanel(options)}
${eventsPanel(options)}
</div>`;
}

function attentionSection({ view, attention, vendors }: OverviewView): Html {
  const { endpoints, monitors, providers } = attention;
  const troubled = providers?.filter((provider) => provider.state !== "available");
  const items = [
    ...(endpoints ?? []).map(
      (each) =>
        html`<li>${state(each.state)} Webhooks to <a class="url" href="${view.path}/webhooks#endpoints">${each.webhookUrl}</a></li>`,
    ),
    ...(monitors ?? []).map(
      (each) =>
        html`<li>${state("error")} The monitor of <a href="${view.path}/monitors/${each.id}">${nameOf(each.entityId, vendors)}</a> <span class="hint">${each.consecutiveErrors === 1 ? "could not be answered at its last run" : `could not be answered ${each.consecutiveErrors} times in a row`}</span></li>`,
    ),
    ...(troubled ?? []).map(
      (each) =>
        html`<li>${state(each.state)} The provider <a href="${view.path}/providers">${providerName(each.name)}</a></li>`,
    ),
  ];
  const missing = [
    !endpoints && "how endpoints answer",
    !monitors && "which monitors end in errors",
    !providers && "how providers are",
  ].filter((each) => each !== false);
  return html`<section class="card" aria-labelledby="attention">
<h2 id="attention">Needs attention</h2>
${items.length > 0 && html`<ul class="plain attention">${items}</ul>`}
${missing.length > 0 && away(`At the moment it can’t be told ${missing.join(", nor ")}.`)}
${items.length === 0 && missing.length === 0 && html`<p>${state("pass", "all well")} Endpoints answer, monitors run, and every provider is available.</p>`}
</section>`;
}

function usagePanel({ view, usage }: OverviewView): Html {
  return html`<section class="wide" aria-labelledby="usage">
<div class="heading"><h2 id="usage">Requests</h2><p><a href="${view.path}/usage">Usage</a></p></div>
${!usage && away("What was used can’t be shown at the moment. It is counted.")}
${usage?.counts.length === 0 && html`<p class="empty">No ${view.name.toLowerCase()} request in the last 24 hours.</p>`}
${usage && usage.counts.length > 0 && requestsPlot(usage.counts, usage.range, "The last 24 hours, by hour (UTC)")}
</section>`;
}

function verificationsPanel({ view, verifications, vendors }: OverviewView): Html {
  return html`<section aria-labelledby="verifications">
<div class="heading"><h2 id="verifications">Newest verifications</h2><p><a href="${view.path}/verifications">All<span class="unseen"> verifications</span></a></p></div>
${!verifications && away("They can’t be shown at the moment. They are not lost.")}
${verifications?.length === 0 && html`<p class="empty">Nothing was verified yet.</p>`}
${
  verifications &&
  verifications.length > 0 &&
  html`<ul class="rows">${verifications.map((each) => html`<li>${state(statusName(each.overallResult))} <a href="${view.path}/verifications/${each.id}">${nameOf(each.entityId, vendors)}</a> <span class="hint">${time(each.createdAt)}</span></li>`)}</ul>`
}
</section>`;
}

function eventsPanel({ view, events, vendors }: OverviewView): Html {
  return html`<section aria-labelledby="events">
<div class="heading"><h2 id="events">Newest changes</h2><p><a href="${view.path}/monitors">Monitors</a></p></div>
${!events && away("They can’t be shown at the moment. They are not lost.")}
${events?.length === 0 && html`<p class="empty">No monitor found a change yet.</p>`}
${
  events &&
  events.length > 0 &&
  html`<ul class="rows">${events.map(
    ({ event, entityId }) =>
      html`<li><a href="${view.path}/monitors/${event.monitorId}">${nameOf(entityId, vendors)}</a> <span class="hint">${time(event.detectedAt)}</span>
<ul class="plain">${event.changes.map(({ field, previous, current }) => html`<li><code>${field}</code> <del>${previous ?? "none"}</del> <span aria-hidden="true">→</span> <ins>${current ?? "none"}</ins></li>`)}</ul></li>`,
  )}</ul>`
}
</section>`;
}

const nameOf = (entityId: string, vendors: Vendors | undefined) => vendors?.get(entityId)?.legalName ?? entityId;

const away = (text: string) => html`<p class="notice warning" role="status">${text}</p>`;
