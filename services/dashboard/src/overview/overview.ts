import { scopes } from "@vvs/api-keys";
import { toProtoEnvironment } from "@vvs/tenant";
import { firstCall, SANDBOX_UEI } from "../api-keys/first-call.ts";
import type { EnvironmentView } from "../http/environments.ts";
import { type Html, html } from "../http/html.ts";
import type { Permission } from "../http/roles.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { vendorName } from "../page/panels.ts";
import { changeList } from "../ui/change-list.ts";
import { listing } from "../ui/listing.ts";
import { card, copyable, outcomeState, state, timeAgo } from "../ui/parts.ts";
import { requestsPlot } from "../usage/usage.ts";
import { readLastDay } from "../usage/usage-figures.ts";
import { type Situation, toDoList } from "./to-do.ts";

/** Maximum number of items in each list of the overview. */
const LIST_LENGTH = 5;

/** Maximum number of monitors without an answer that are counted. */
const MAX_COUNTED = 100;

/** Creates the handler of the overview: what to do today, what is new, and the first steps of a new organization. */
export function createOverviewHandler(context: PageContext): PageHandler {
  return async (_request, response, visit) => {
    const content = overviewPage(await readOverview(context, visit));
    const beside =
      visit.may("verify") &&
      html`<p><a class="button" href="${visit.view.path}/verifications/new">Run a verification</a></p>`;
    context.layout.sendPage(response, { visit, title: "Overview", beside, content });
  };
}

type OverviewView = Awaited<ReturnType<typeof readOverview>>;

/** Reads the data of the overview. Each part is undefined while its service is unavailable. */
async function readOverview(context: PageContext, visit: Visit) {
  const { apiKeys, monitors, vendorList, verification, readEndpoints, readVendors, readPanel } = context;
  const { caller } = visit;
  const environment = toProtoEnvironment(visit.view.environment);
  const page = { limit: LIST_LENGTH };
  const silent = { caller, unanswered: true, page: { limit: MAX_COUNTED } };
  const [keys, vendorCounts, usage, providers, budgets, verified, anyMonitor, unanswered, newest, used, flagged] =
    await Promise.all([
      readPanel(visit, "keys", (call) => apiKeys.listApiKeys({ caller }, call)),
      readPanel(visit, "vendors", (call) => vendorList.countVendors({ caller }, call)),
      readPanel(visit, "usage", (call) => readLastDay(context, visit, call)),
      readPanel(visit, "providers", (call) => verification.listProviders({ environment }, call)),
      readPanel(visit, "budgets", (call) => verification.getProviderUsage({ caller }, call)),
      readPanel(visit, "verifications", (call) => verification.listVerifications({ caller, page }, call)),
      readPanel(visit, "monitors", (call) => monitors.listMonitors({ caller, page: { limit: 1 } }, call)),
      readPanel(visit, "monitors", (call) => monitors.listMonitors(silent, call)),
      readPanel(visit, "events", (call) => monitors.listEvents({ caller, page }, call)),
      readEndpoints(visit, { limit: 100 }),
      readEndpoints(visit, { limit: 1, flaggedOnly: true }),
    ]);
  const verifications = verified?.verifications;
  const events = newest?.events;
  const vendors = await readVendors(visit, [...(verifications ?? []), ...(events ?? [])]);
  const situation: Situation = {
    vendors: vendorCounts,
    unanswered: unanswered && { count: unanswered.monitors.length, hasMore: unanswered.next !== undefined },
    failingEndpoints: flagged?.flaggedCount,
    providers: providers?.providers,
    budgets: budgets?.providers,
  };
  const completedSteps = {
    keys: keys && keys.keys.length > 0,
    verifications: verifications && verifications.length > 0,
    /** Whether there is an active monitor. */
    monitors: anyMonitor && anyMonitor.monitors.length > 0,
    // A test event to a wrong URL does not count.
    deliveries: used?.endpoints.some(({ lastSuccessAt }) => lastSuccessAt !== undefined),
  };
  return { visit, situation, completedSteps, apiBaseUrl: context.apiBaseUrl, verifications, events, usage, vendors };
}

function overviewPage(options: OverviewView): Html {
  return html`${firstSteps(options)}
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
  const missing = Object.entries(parts).flatMap(([part, name]) =>
    situation[part as keyof Situation] === undefined ? [name] : [],
  );
  return card("to-do", "To do today")`${items.length > 0 && html`<ul class="plain attention">${items}</ul>`}
${missing.length > 0 && unavailable(`The state of ${new Intl.ListFormat("en-GB").format(missing)} is temporarily unavailable. Try again in a moment.`)}
${items.length === 0 && missing.length === 0 && html`<p>${state("pass", "nothing")} No vendor is excluded, has failed a check, lacks an answer, or has a registration that has ended or ends within 30 days. Monitors get answers, webhook endpoints accept events, and every check has a provider that answers.</p>`}`;
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
    html`<ul class="rows">${items.map((each) => html`<li>${outcomeState(each.overallResult)} <a href="${view.path}/verifications/${each.id}">${vendorName(vendors, each.entityId)}</a> <span class="hint">${timeAgo(each.createdAt, now)}</span></li>`)}</ul>`,
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
      ({ monitorId, entityId, detectedAt, changes }) =>
        html`<li><a href="${view.path}/monitors/${monitorId}">${vendorName(vendors, entityId)}</a> <span class="hint">${timeAgo(detectedAt, now)}</span>
${changeList(changes)}</li>`,
    )}</ul>`,
})}
</section>`;
}

const unavailable = (text: string) => html`<p class="notice warning" role="status">${text}</p>`;

/** A sandbox vendor that changes at every run of a monitor. */
const CHANGING_UEI = "SANDBXCHNGE1";

const needed: readonly Permission[] = ["manage_keys", "verify", "manage_monitors", "manage_webhooks"];

/**
 * Renders the three first steps; nothing once all are taken, while any is unknown, or for roles that may not take them all.
 */
function firstSteps({ visit: { view, may }, completedSteps, apiBaseUrl }: OverviewView): Html | undefined {
  if (!needed.every(may)) return undefined;
  const { keys, verifications, monitors, deliveries } = completedSteps;
  const steps = [keys, verifications, deliveries];
  if ([...steps, monitors].includes(undefined) || steps.every(Boolean)) return undefined;
  const { path, environment } = view;
  const call = firstCall({ baseUrl: apiBaseUrl, key: "$VENDOR_VERIFICATION_API_KEY", environment, scopes });
  const keyHint = html`Then make this call with it. The <a href="${new URL("/docs", apiBaseUrl).href}">API reference</a> has all others.`;
  const vendorHint =
    environment === "sandbox"
      ? html`To try it, enter the UEI <code>${SANDBOX_UEI}</code>, a sandbox vendor that passes.`
      : html`Enter what you know of a vendor, such as its UEI or its name.`;
  return card("first-steps", `First steps in the ${view.name} environment`)`<ol class="steps">
<li>${step(keys, "Create an API key", `${path}/api-keys`, keyHint)}
${!keys && copyable("first-call", "A first call", call)}</li>
<li>${step(verifications, "Verify a vendor", `${path}/verifications/new`, vendorHint)}</li>
<li>${webhookStep(view, { isDone: deliveries, isMonitored: !!monitors }, apiBaseUrl)}</li>
</ol>`;
}

/** Renders the step to a first webhook: a monitor of a vendor, in the sandbox of one that changes at every run. */
function webhookStep(
  { path, environment }: EnvironmentView,
  { isDone, isMonitored }: { isDone: boolean | undefined; isMonitored: boolean },
  apiBaseUrl: URL,
): Html {
  const name = "Receive changes by webhook";
  const guide = new URL("/docs#try-webhooks", apiBaseUrl).href;
  const onYourMachine =
    environment === "sandbox" && html` It can <a href="${guide}">run on your machine</a>, as the reference shows.`;
  if (isMonitored) {
    return step(
      isDone,
      name,
      `${path}/webhooks/test`,
      html`Send a test event to your webhook endpoint.${onYourMachine}`,
    );
  }
  if (environment === "live") {
    const hint = html`Find a vendor, and monitor it on its page with the URL of your webhook endpoint.`;
    return step(isDone, name, `${path}/vendors/search`, hint);
  }
  const hint = html`Open the vendor <code>${CHANGING_UEI}</code>, which changes at every run, and monitor it every hour with the URL of your webhook endpoint.${onYourMachine}`;
  return step(isDone, name, `${path}/vendors/search?uei=${CHANGING_UEI}#found`, hint);
}

/** Renders a step, with how to take it until it is done. */
function step(isDone: boolean | undefined, name: string, href: string, hint: Html): Html {
  return isDone
    ? html`${state("pass", "done")} ${name}`
    : html`<a href="${href}">${name}</a> <span class="hint">${hint}</span>`;
}
