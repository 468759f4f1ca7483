import type { GetOrganizationResponse } from "@vvs/proto/account/v1/organization";
import { apiKeyState } from "../api-keys/api-key-pages.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { CONFIRMED, card, copyableId, facts, noticeOf, section, time } from "../ui/parts.ts";
import { none, table } from "../ui/table.ts";
import { numberText, planName } from "../ui/vocabulary.ts";
import { busiestOf, readLastDay } from "../usage/usage-figures.ts";
import { organizationTabs } from "./organization-tabs.ts";

/** Creates the handler of the plan page: the organization's plan, its limits and current use. */
export function createOrganizationHandler(context: PageContext): PageHandler {
  const { readPanel, layout } = context;
  return async (request, response, visit) => {
    const { caller } = visit;
    const [organization, { keys }, monitors, usage] = await Promise.all([
      context.organization.getOrganization({ caller }),
      context.apiKeys.listApiKeys({ caller }),
      readPanel(visit, "monitors", (call) => context.monitors.countMonitors({ caller }, call)),
      readPanel(visit, "usage", (call) => readLastDay(context, visit, call)),
    ]);
    const notice = noticeOf(request, { confirmed: CONFIRMED });
    const content = html`${organizationTabs(visit, "Plan and limits")}
${card("plan", "Plan")`${facts([
  ["Plan", html`<strong>${planName(organization.plan)}</strong>`],
  ["Organization ID", copyableId(organization.id)],
  ["Created", time(organization.createdAt)],
  ["Live TIN matching", tinMatching(organization)],
])}
<p class="hint">To change the plan, contact the operator of this service and include the organization ID.</p>`}
${limits(visit, organization, {
  keys: keys.filter((key) => apiKeyState(key, visit.now) === "active").length,
  monitors: monitors?.active,
  busiest: usage && busiestOf(usage.counts),
})}
${kept()}`;
    layout.sendPage(response, { visit, title: "Plan and limits", heading: organization.name, notice, content });
  };
}

function tinMatching({ liveTinMatch }: GetOrganizationResponse): Html | string {
  return liveTinMatch
    ? "enabled"
    : html`not enabled: live TIN matches get no answer (<code>not_enabled</code>). To have it enabled, contact the operator of this service. In the sandbox it works.`;
}

/** Renders the limits and what is used of them; parts of `used` are undefined while unavailable. */
function limits(
  { view }: Visit,
  organization: GetOrganizationResponse,
  used: { keys: number; monitors: number | undefined; busiest: ReturnType<typeof busiestOf> | undefined },
): Html {
  const { keys, monitors, busiest } = used;
  const rows: readonly Limit[] = [
    { what: "Active monitors", used: monitors, most: organization.activeMonitors, path: "monitors" },
    { what: "Active API keys", used: keys, most: organization.activeKeys, path: "api-keys" },
    {
      what: "Requests per minute and API key",
      used: busiest && Math.ceil(busiest.most / 60),
      most: organization.limitPerMinute,
      path: "usage?range=day",
      hint: "average in the busiest hour of the last 24 hours, without requests answered with 429",
    },
  ];
  return section("limits", `Limits in the ${view.name} environment`)`${table("limits", rows, [
    ["Limit", ({ what, path }) => html`<a href="${view.path}/${path}">${what}</a>`],
    ["Used", limitUsed],
    ["Maximum", ({ most }) => numberText(most), "number"],
  ])}
${
  busiest &&
  busiest.limited > 0 &&
  html`<p class="notice warning">${numberText(busiest.limited)} ${busiest.limited === 1 ? "request was" : "requests were"} answered with 429 (too many requests) in the last 24 hours. <a href="${view.path}/requests?outcome=rate_limited">View the latest of them</a></p>`
}`;
}

interface Limit {
  readonly what: string;
  readonly used: number | undefined;
  readonly most: number;
  readonly path: string;
  readonly hint?: string;
}

function limitUsed({ what, used, most, hint }: Limit): Html {
  if (used === undefined) return none("temporarily unavailable");
  return html`${numberText(used)} <meter aria-label="${what}: used" min="0" max="${most}" high="${most * 0.8}" optimum="0" value="${Math.min(used, most)}"></meter>${hint && html`<span class="hint block">${hint}</span>`}`;
}

function kept(): Html {
  return section("kept", "How long data is kept", "card long-labels")`${facts([
    ...retention.map(({ what, days }) => [what, `${days} days`] as const),
    ["Vendors with their versions, and monitors", "forever"],
  ])}
<p class="hint">A verification that a change or the last run of a monitor leads to is kept for as long as these. The operator of this service may have set other times.</p>`;
}

/** How long data shown in the dashboard is kept, in days. `listed` is its name in the operations guide. Other data is kept forever. */
export const retention: readonly { readonly what: string; readonly days: number; readonly listed: string }[] = [
  { what: "Usage", days: 400, listed: "usage of keys, by hour" },
  { what: "The list of requests", days: 7, listed: "the request log" },
  { what: "Audit log", days: 2_557, listed: "the audit log" },
  { what: "Webhook deliveries", days: 90, listed: "deliveries with their attempts" },
  { what: "Webhook deliveries in the test environment", days: 14, listed: "the sandbox's deliveries" },
  { what: "Changes found by monitors in the test environment", days: 14, listed: "events of sandbox monitors" },
  { what: "Changes found by live monitors", days: 2_557, listed: "events of live monitors" },
  { what: "Monitor runs", days: 400, listed: "runs of monitors" },
  {
    what: "Verifications with fresh answers, and those that failed, with evidence",
    days: 2_557,
    listed: "verifications that a `realtime` call asked for",
  },
  { what: "Other verifications with evidence, such as of stored answers", days: 400, listed: "other verifications" },
  {
    what: "Verifications made by monitors in the test environment",
    days: 14,
    listed: "verifications of the sandbox's runs",
  },
];
