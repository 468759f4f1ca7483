import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { GetOrganizationResponse } from "@vvs/proto/account/v1/organization";
import type { UsageCount } from "@vvs/proto/account/v1/usage";
import type { ProviderHealth } from "@vvs/proto/verification/v1/provider_health";
import type { ProviderUsage } from "@vvs/proto/verification/v1/provider_usage";
import { hint } from "../api-keys/api-keys-page.ts";
import { type Html, html } from "../http/html.ts";
import { planName } from "../organization/plan-page.ts";
import { providerHealthSection } from "../providers/provider-health.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { stats } from "../ui/parts.ts";
import { lines, stackedBars } from "../ui/plot.ts";
import { providerUsageSection } from "./provider-usage.ts";
import {
  durationText,
  figuresByPeriod,
  latencyOf,
  numberText,
  outcomes,
  type PeriodFigures,
  requestsByKey,
  requestsByOutcome,
  totalOf,
} from "./usage-figures.ts";
import { labelOf, tickOf, type UsageRange } from "./usage-range.ts";

export interface UsageView {
  readonly view: EnvironmentView;
  readonly organization: GetOrganizationResponse;
  readonly keys: readonly ApiKey[];
  readonly counts: readonly UsageCount[];
  readonly range: UsageRange;
  /** The ranges to choose from. */
  readonly ranges: readonly UsageRange[];
  /** The id of the API key to show; empty for all keys. */
  readonly keyId: string;
  /** Undefined while unavailable. */
  readonly providers: readonly ProviderHealth[] | undefined;
  /** The organization's calls today at providers that it has a budget at; undefined while unavailable. */
  readonly providerUsage: readonly ProviderUsage[] | undefined;
}

const OUTCOME_NAMES = {
  answered: "Answered",
  refused: "Refused (4xx)",
  limited: "Over the limit (429)",
  failed: "Failed (5xx)",
  unanswered: "Client hung up",
};
const LATENCIES = [
  { name: "Half took less than", className: "p50", of: "p50" },
  { name: "95 % took less than", className: "p95", of: "p95" },
  { name: "99 % took less than", className: "p99", of: "p99" },
] as const;

export function usagePage(options: UsageView): Html {
  const { counts } = options;
  return html`<h1>Usage</h1>
${chooser(options)}
${counts.length === 0 ? nothing(options) : plots(options)}
${providerUsageSection(options.providerUsage)}
${providerHealthSection(options)}`;
}

function plots(options: UsageView): Html {
  const { counts, range } = options;
  const figures = figuresByPeriod(counts, range);
  const label = ({ at }: PeriodFigures) => labelOf(at, range);
  return html`${summary(options, figures)}
${requestsPlot(counts, range, `Requests by ${range.interval}`)}
${lines({
  id: "latency",
  title: `Duration of requests, by ${range.interval}`,
  series: LATENCIES,
  points: figures.map((each) => ({
    label: label(each),
    tick: tickOf(each.at, range),
    values: LATENCIES.map(({ of }) => each.latency?.[of]),
  })),
  text: durationText,
})}
${byKey(options)}`;
}

/** Renders the requests over time, by outcome. */
export function requestsPlot(counts: readonly UsageCount[], range: UsageRange, title: string): Html {
  return stackedBars({
    id: "requests",
    title,
    series: outcomes.map((outcome) => ({ name: OUTCOME_NAMES[outcome], className: outcome })),
    points: figuresByPeriod(counts, range).map(({ at, requests }) => ({
      label: labelOf(at, range),
      tick: tickOf(at, range),
      values: outcomes.map((outcome) => requests[outcome]),
    })),
    text: numberText,
  });
}

function summary({ counts, organization, range }: UsageView, figures: readonly PeriodFigures[]): Html {
  const requests = requestsByOutcome(counts);
  const busiest = figures.reduce((one, other) => (totalOf(other.requests) > totalOf(one.requests) ? other : one));
  const perMinute = totalOf(busiest.requests) / (range.stepMs / 60_000);
  const latency = latencyOf(counts);
  const failedShare = requests.failed / totalOf(requests);
  return html`<section class="card" aria-labelledby="summary">
<h2 id="summary">In the last ${range.name}</h2>
${stats([
  ["Requests", numberText(totalOf(requests))],
  ["Over the limit", requests.limited > 0 && `${numberText(requests.limited)}, answered with 429`],
  [
    "Failed on our side",
    requests.failed > 0 ? `${numberText(requests.failed)} (${(failedShare * 100).toFixed(2)} %)` : "none",
  ],
  ["Half took less than", latency && durationText(latency.p50)],
  ["99 % took less than", latency && durationText(latency.p99)],
  [
    `Busiest ${range.interval}`,
    `${labelOf(busiest.at, range)}, ${perMinute < 1 ? "less than 1 request" : `${numberText(Math.round(perMinute))} requests`} per minute on average`,
  ],
  [
    "Your limit",
    `${numberText(organization.limitPerMinute)} requests per minute for each API key (plan ${planName(organization.plan)})`,
  ],
])}
</section>`;
}

function byKey({ view, counts, keys, keyId, range }: UsageView): Html | undefined {
  if (keyId) return undefined;
  const sums = requestsByKey(counts);
  const most = sums[0]?.[1] ?? 1;
  const known = new Map(keys.map((key) => [key.id, key]));
  return html`<section aria-labelledby="by-key">
<h2 id="by-key">Requests by API key</h2>
<table>
<thead><tr><th scope="col">Key</th><th scope="col" class="number">Requests</th><th scope="col"><span class="unseen">Share</span></th></tr></thead>
<tbody>${sums.map(([id, requests]) => {
    const key = known.get(id);
    const path = `${view.path}/usage?range=${range.id}&key=${encodeURIComponent(id)}`;
    return html`<tr>
<th scope="row"><a href="${path}">${key?.name ?? id}</a> ${key && html`<code class="hint">${hint(key)}</code>`}</th>
<td data-label="Requests" class="number">${numberText(requests)}</td>
<td class="share"><svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="answered" width="${((requests / most) * 100).toFixed(1)}" height="1"/></svg></td>
</tr>
`;
  })}</tbody>
</table>
</section>`;
}

function chooser({ view, keys, keyId, range, ranges }: UsageView): Html {
  return html`<form method="get" action="${view.path}/usage" class="card filters${!keyId && " unprinted"}">
  <div class="columns">
  <div class="field"><label for="range">Time</label>
    <select id="range" name="range">${ranges.map(({ id, name }) => html`<option value="${id}"${id === range.id && html` selected`}>The last ${name}</option>`)}</select></div>
  <div class="field"><label for="key">Key</label>
    <select id="key" name="key"><option value="">All keys</option>${keys.map((key) => html`<option value="${key.id}"${key.id === keyId && html` selected`}>${key.name} (${hint(key)})</option>`)}</select></div>
  </div>
  <div class="row"><button class="quiet">Show</button></div>
</form>`;
}

function nothing({ view, keyId, range }: UsageView): Html {
  if (keyId) return html`<p class="empty">No requests with this API key in the last ${range.name}.</p>`;
  return html`<p class="empty">No API requests in the ${view.name} environment in the last ${range.name}. <a href="${view.path}/api-keys">Create an API key</a> and make your first call. It appears here about ten seconds later.</p>`;
}
