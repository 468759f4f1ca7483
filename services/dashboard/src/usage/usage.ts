import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { GetOrganizationResponse } from "@vvs/proto/account/v1/organization";
import { type UsageCount, UsageInterval } from "@vvs/proto/account/v1/usage";
import { HealthInterval, type ProviderHealth } from "@vvs/proto/verification/v1/provider_health";
import type { ProviderUsage } from "@vvs/proto/verification/v1/provider_usage";
import { toProtoEnvironment } from "@vvs/tenant";
import type { EnvironmentView } from "../http/environments.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { keyHint } from "../page/panels.ts";
import { option, selectField } from "../ui/fields.ts";
import { stats } from "../ui/parts.ts";
import { lines, stackedBars } from "../ui/plot.ts";
import { table } from "../ui/table.ts";
import { durationText, numberText, planName } from "../ui/vocabulary.ts";
import { providerHealthSection, providerUsageSection } from "./provider-health.ts";
import {
  figuresByPeriod,
  labelOf,
  latencyOf,
  outcomes,
  type PeriodFigures,
  rangesAt,
  requestsByKey,
  requestsByOutcome,
  tickOf,
  totalOf,
  type UsageRange,
} from "./usage-figures.ts";

/** Creates the handler of the usage page: the organization's API requests, and how often providers answered. */
export function createUsageHandler(context: PageContext): PageHandler {
  const { verification, readPanel, layout } = context;

  const providersOf = (visit: Visit, range: UsageRange) =>
    readPanel(visit, "provider health", async (call) => {
      const environment = toProtoEnvironment(visit.view.environment);
      const interval = range.interval === "day" ? HealthInterval.DAY : HealthInterval.HOUR;
      const request = { environment, from: timestampFromDate(range.from), to: timestampFromDate(range.to), interval };
      return (await verification.getProviderHealth(request, call)).providers;
    });

  /** Reads the organization's calls at providers today; undefined while unavailable. Sandbox providers have no budgets. */
  const providerUsageOf = async (visit: Visit) => {
    if (visit.view.environment === "sandbox") return [];
    const { caller } = visit;
    const answer = await readPanel(visit, "provider usage", (call) => verification.getProviderUsage({ caller }, call));
    return answer?.providers;
  };

  return async (request, response, visit) => {
    const { caller } = visit;
    const ranges = rangesAt(visit.now);
    const range = ranges.find(({ id }) => id === request.query.range) ?? ranges[2]!;
    const [organization, { keys }, providers, providerUsage] = await Promise.all([
      context.organization.getOrganization({ caller }),
      context.apiKeys.listApiKeys({ caller }),
      providersOf(visit, range),
      providerUsageOf(visit),
    ]);
    const keyId = keys.find(({ id }) => id === request.query.key)?.id ?? "";
    const { counts } = await context.usage.getUsage({
      caller,
      from: timestampFromDate(range.from),
      to: timestampFromDate(range.to),
      interval: range.interval === "day" ? UsageInterval.DAY : UsageInterval.HOUR,
      apiKeyId: keyId,
    });
    const read = { organization, keys, counts, providers, providerUsage };
    const content = usagePage({ view: visit.view, ...read, range, ranges, keyId });
    layout.sendPage(response, { visit, title: "Usage", content, script: "filter.js" });
  };
}

interface UsageView {
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
  limited: "Too many requests (429)",
  failed: "Failed (5xx)",
  unanswered: "Client hung up",
};
const LATENCIES = [
  { name: "Half took less than", className: "p50", of: "p50" },
  { name: "95 % took less than", className: "p95", of: "p95" },
  { name: "99 % took less than", className: "p99", of: "p99" },
] as const;

function usagePage(options: UsageView): Html {
  const { counts } = options;
  return html`${chooser(options)}
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

function summary({ view, counts, organization, range }: UsageView, figures: readonly PeriodFigures[]): Html {
  const requests = requestsByOutcome(counts);
  const busiest = figures.reduce((one, other) => (totalOf(other.requests) > totalOf(one.requests) ? other : one));
  const perMinute = totalOf(busiest.requests) / (range.stepMs / 60_000);
  const latency = latencyOf(counts);
  const failedShare = requests.failed / totalOf(requests);
  return html`<section class="card" aria-labelledby="summary">
<h2 id="summary">In the last ${range.name}</h2>
${stats([
  ["Requests", numberText(totalOf(requests))],
  [
    "Too many requests",
    requests.limited > 0 &&
      html`${numberText(requests.limited)}, answered with 429. <a href="${view.path}/requests?outcome=rate_limited">View the latest</a>`,
  ],
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
${table("", sums, [
  [
    "Key",
    ([id]) => {
      const key = known.get(id);
      const path = `${view.path}/usage?range=${range.id}&key=${encodeURIComponent(id)}`;
      return html`<a href="${path}">${key?.name ?? id}</a> ${key && html`<code class="hint">${keyHint(key)}</code>`}`;
    },
  ],
  ["Requests", ([, requests]) => numberText(requests), "number"],
  [
    "Share",
    ([, requests]) =>
      html`<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="answered" width="${((requests / most) * 100).toFixed(1)}" height="1"/></svg>`,
    "share",
  ],
])}
</section>`;
}

function chooser({ view, keys, keyId, range, ranges }: UsageView): Html {
  const times = ranges.map(({ id, name }) => option(id, range.id, `The last ${name}`));
  const choices = keys.map((key) => option(key.id, keyId, `${key.name} (${keyHint(key)})`));
  return html`<form method="get" action="${view.path}/usage" class="filters${!keyId && " unprinted"}" data-applied>
  ${selectField({ name: "range", label: "Time", options: times })}
  ${selectField({ name: "key", label: "Key", options: [option("", keyId, "All keys"), ...choices] })}
  <button class="quiet">Show</button>
</form>`;
}

function nothing({ view, keyId, range }: UsageView): Html {
  if (keyId) return html`<p class="empty">No requests with this API key in the last ${range.name}.</p>`;
  return html`<p class="empty">No API requests in the ${view.name} environment in the last ${range.name}. <a href="${view.path}/api-keys">Create an API key</a> and make your first call. It appears here about ten seconds later.</p>`;
}
