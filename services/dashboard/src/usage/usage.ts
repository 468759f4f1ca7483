import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type UsageCount, UsageInterval } from "@vvs/proto/account/v1/usage";
import { HealthInterval } from "@vvs/proto/verification/v1/provider_health";
import { toProtoEnvironment } from "@vvs/tenant";
import type { Request } from "express";
import { type Html, html } from "../http/html.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { keyHint } from "../page/panels.ts";
import { option, selectField } from "../ui/fields.ts";
import { card, section, stats } from "../ui/parts.ts";
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
  return async (request, response, visit) => {
    const content = usagePage(await readUsage(context, request, visit));
    context.layout.sendPage(response, { visit, title: "Usage", content, script: "filter.js" });
  };
}

type UsageView = Awaited<ReturnType<typeof readUsage>>;

/** Reads what the page shows. Parts about providers are undefined while unavailable. */
async function readUsage(context: PageContext, request: Request, { view, caller, now }: Visit) {
  const { verification, readPanel } = context;
  const ranges = rangesAt(now);
  const range = ranges.find(({ id }) => id === request.query.range) ?? ranges[2]!;
  const isByDay = range.interval === "day";
  const period = { from: timestampFromDate(range.from), to: timestampFromDate(range.to) };
  const asked = {
    ...{ ...period, environment: toProtoEnvironment(view.environment) },
    interval: isByDay ? HealthInterval.DAY : HealthInterval.HOUR,
  };
  const [organization, { keys }, health, spent] = await Promise.all([
    context.organization.getOrganization({ caller }),
    context.apiKeys.listApiKeys({ caller }),
    readPanel({ caller }, "provider health", (call) => verification.getProviderHealth(asked, call)),
    // Sandbox providers have no budgets.
    view.environment === "sandbox"
      ? { providers: [] }
      : readPanel({ caller }, "provider usage", (call) => verification.getProviderUsage({ caller }, call)),
  ]);
  const keyId = keys.find(({ id }) => id === request.query.key)?.id ?? "";
  const interval = isByDay ? UsageInterval.DAY : UsageInterval.HOUR;
  const { counts } = await context.usage.getUsage({ caller, ...period, interval, apiKeyId: keyId });
  return {
    ...{ view, organization, keys, counts, range, ranges, keyId },
    ...{ providers: health?.providers, providerUsage: spent?.providers },
  };
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
  return card("summary", `In the last ${range.name}`)`${stats([
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
  ])}`;
}

function byKey({ view, counts, keys, keyId, range }: UsageView): Html | undefined {
  if (keyId) return undefined;
  const sums = requestsByKey(counts);
  const most = sums[0]?.[1] ?? 1;
  const known = new Map(keys.map((key) => [key.id, key]));
  return section("by-key", "Requests by API key")`${table("", sums, [
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
  ])}`;
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
