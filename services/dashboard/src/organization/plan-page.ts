import type { GetOrganizationResponse } from "@vvs/proto/account/v1/organization";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { copyableId, facts, type Notice, noticeBox, time } from "../ui/parts.ts";
import { numberText } from "../usage/usage-figures.ts";
import { organizationTabs } from "./organization-tabs.ts";
import { retention } from "./retention.ts";

interface PlanView {
  readonly visit: Visit;
  readonly organization: GetOrganizationResponse;
  readonly activeKeys: number;
  /** Undefined while it is unavailable. */
  readonly activeMonitors: number | undefined;
  /** In the last 24 hours: the most requests of one key in an hour, and all requests over the limit. Undefined while unavailable. */
  readonly busiest: { readonly most: number; readonly limited: number } | undefined;
  readonly notice?: Notice;
}

const planNames: Readonly<Record<string, string>> = {
  starter: "Starter",
  growth: "Growth",
  enterprise: "Enterprise",
};

/** Returns the name of a plan for people. */
export const planName = (plan: string): string => planNames[plan] ?? plan;

export function planPage(options: PlanView): Html {
  const { visit, organization } = options;
  return html`<h1>${organization.name}</h1>
${organizationTabs(visit, "Plan and limits")}
${noticeBox(options.notice)}
<section class="card" aria-labelledby="plan">
<h2 id="plan">Plan</h2>
${facts([
  ["Plan", html`<strong>${planName(organization.plan)}</strong>`],
  ["Organization ID", copyableId(organization.id)],
  ["Created", time(organization.createdAt)],
  ["Live TIN matching", tinMatching(organization)],
])}
<p class="hint">To change the plan, contact the operator of this service and include the organization ID.</p>
</section>
${limits(options)}
${kept()}`;
}

function tinMatching({ liveTinMatch }: GetOrganizationResponse): Html | string | undefined {
  if (liveTinMatch === undefined) return undefined;
  return liveTinMatch
    ? "enabled"
    : html`not enabled: live TIN matches get no answer (<code>not_enabled</code>). To have it enabled, contact the operator of this service. In the sandbox it works.`;
}

function limits(options: PlanView): Html {
  const { organization, activeKeys, activeMonitors, busiest } = options;
  const { view } = options.visit;
  const perMinute = busiest && Math.ceil(busiest.most / 60);
  return html`<section aria-labelledby="limits">
<h2 id="limits">Limits in the ${view.name} environment</h2>
<table class="limits">
<thead><tr><th scope="col">Limit</th><th scope="col">Used</th><th scope="col" class="number">Maximum</th></tr></thead>
<tbody>
${limitRow({ what: "Active monitors", used: activeMonitors, most: organization.activeMonitors, path: `${view.path}/monitors` })}
${limitRow({ what: "Active API keys", used: activeKeys, most: organization.activeKeys, path: `${view.path}/api-keys` })}
${limitRow({
  what: "Requests per minute and API key",
  used: perMinute,
  most: organization.limitPerMinute,
  path: `${view.path}/usage?range=day`,
  hint: "average in the busiest hour of the last 24 hours",
})}
</tbody>
</table>
${
  busiest &&
  busiest.limited > 0 &&
  html`<p class="notice warning">${numberText(busiest.limited)} ${busiest.limited === 1 ? "request was" : "requests were"} over the limit in the last 24 hours and got a 429 answer. <a href="${view.path}/usage?range=day">See when, and with which API key</a></p>`
}
</section>`;
}

function limitRow(row: { what: string; used: number | undefined; most: number; path: string; hint?: string }): Html {
  const { what, used, most } = row;
  return html`<tr>
<th scope="row"><a href="${row.path}">${what}</a></th>
<td data-label="Used">${
    used === undefined
      ? html`<span class="hint">temporarily unavailable</span>`
      : html`${numberText(used)} <meter aria-label="${what}: used" min="0" max="${most}" high="${most * 0.8}" optimum="0" value="${Math.min(used, most)}"></meter>${row.hint && html`<span class="hint block">${row.hint}</span>`}`
  }</td>
<td data-label="Maximum" class="number">${numberText(most)}</td>
</tr>
`;
}

function kept(): Html {
  return html`<section class="card long-labels" aria-labelledby="kept">
<h2 id="kept">How long data is kept</h2>
${facts([
  ...retention.map(({ what, days }) => [what, `${days} days`] as const),
  ["Vendors with their versions, and monitors", "forever"],
])}
<p class="hint">A verification that a change or the last run of a monitor leads to is kept for as long as these. The operator of this service may have set other times.</p>
</section>`;
}
