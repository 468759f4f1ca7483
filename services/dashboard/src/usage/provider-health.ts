import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { HealthFigures, ProviderHealth } from "@vvs/proto/verification/v1/provider_health";
import type { ProviderUsage } from "@vvs/proto/verification/v1/provider_usage";
import type { EnvironmentView } from "../http/environments.ts";
import { type Html, html } from "../http/html.ts";
import { checkName, checkTitle, section } from "../ui/parts.ts";
import { stackedBars } from "../ui/plot.ts";
import { table } from "../ui/table.ts";
import { durationText, numberText, providerName } from "../ui/vocabulary.ts";
import { labelOf, tickOf, type UsageRange } from "./usage-figures.ts";

const SERIES = [
  { name: "Answered", className: "answered" },
  { name: "No answer", className: "failed" },
];

/** Renders how often and how fast the providers of an environment answered. `providers` is undefined while unavailable. */
export function providerHealthSection(options: {
  view: EnvironmentView;
  range: UsageRange;
  providers: readonly ProviderHealth[] | undefined;
}): Html {
  const { view, range, providers } = options;
  return html`<section aria-labelledby="provider-health">
<div class="heading"><h2 id="provider-health">Providers</h2><p class="unprinted"><a href="${view.path}/providers">View current state</a></p></div>
<p class="hint">The share of requests that each provider answered, for all customers and API keys in the ${view.name} environment. If a provider does not answer, the next one is called. Requests that no provider could answer${view.environment === "sandbox" ? " and outages that a sandbox vendor simulates" : ", such as an unusable name,"} are not counted.</p>
${!providers && html`<p class="notice warning" role="status">Provider statistics are temporarily unavailable. Requests are still counted. Try again in a moment.</p>`}
${providers?.length === 0 && html`<p class="empty">No provider was called in the last ${range.name}. ${nextStep(view)}</p>`}
${providers && providers.length > 0 && html`<div class="panels plots">${providers.map((provider) => plotOf(provider, range))}</div>`}
</section>`;
}

const nextStep = (view: EnvironmentView) =>
  html`<a href="${view.path}/verifications">Run a verification</a>. It appears here a few seconds later.`;

function plotOf({ provider, checkType, overall, periods }: ProviderHealth, range: UsageRange): Html {
  const byTime = new Map(periods.map(({ at, figures }) => [timestampDate(at!).getTime(), figures!]));
  const times = Array.from(
    { length: (range.to.getTime() - range.from.getTime()) / range.stepMs },
    (_, place) => range.from.getTime() + place * range.stepMs,
  );
  return html`<div>
${stackedBars({
  id: `${provider}-${checkName(checkType)}`,
  title: `${providerName(provider)}: ${checkTitle(checkType)}`,
  note: summaryOf(overall!),
  series: SERIES,
  points: times.map((time) => ({
    label: labelOf(new Date(time), range),
    tick: tickOf(new Date(time), range),
    values: sharesOf(byTime.get(time)),
  })),
  text: (share) => `${share} %`,
})}
</div>`;
}

/** Returns the percentages of answered and unanswered requests; undefined if there were none. */
function sharesOf(figures: HealthFigures | undefined): (number | undefined)[] {
  return figures ? [figures.answeredPercent, 100 - figures.answeredPercent] : [undefined, undefined];
}

function summaryOf({ answeredPercent, halfWithinMs, mostWithinMs }: HealthFigures): string {
  const answered = answeredPercent === 0 ? "No requests answered" : `${answeredPercent} % of requests answered`;
  return halfWithinMs === 0
    ? `${answered}.`
    : `${answered}, half of them within ${durationText(halfWithinMs)}, 95 % within ${durationText(mostWithinMs)}.`;
}

/**
 * Renders the organization's calls to providers today, against its budgets. Nothing where it has none; undefined while
 * unavailable.
 */
export function providerUsageSection(usage: readonly ProviderUsage[] | undefined): Html | undefined {
  if (usage?.length === 0) return undefined;
  return section("provider-usage", "Your calls to providers today")`
<p class="hint">Your plan allows a number of calls to each provider per day (UTC). Part of them is kept for monitors, and part for the API and this dashboard. When none are left, the provider is not called: the next one is, and a check that no provider answers has no answer. Answers from loaded files and stored answers are not counted.</p>
${usage ? tableOf(usage) : html`<p class="notice warning" role="status">Your calls to providers are temporarily unavailable. They are still counted. Try again in a moment.</p>`}`;
}

function tableOf(usage: readonly ProviderUsage[]): Html {
  const spent = usage.filter(({ directLeft, monitorsLeft }) => directLeft === 0 || monitorsLeft === 0);
  const rows = usage.map((each) => ({ ...each, name: providerName(each.provider) }));
  return html`${table("limits", rows, [
    ["Provider", ({ name }) => name],
    [
      "API and dashboard",
      ({ name, direct, directLeft }) => used(`${name}: used by the API and the dashboard`, direct, directLeft),
    ],
    ["Monitors", ({ name, monitors, monitorsLeft }) => used(`${name}: used by monitors`, monitors, monitorsLeft)],
    ["Maximum per day", ({ perDay }) => numberText(perDay), "number"],
    [
      "Maximum per minute",
      ({ perMinute }) => html`${numberText(perMinute)}<span class="hint block">API and dashboard</span>`,
      "number",
    ],
  ])}
${spent.map(notice)}`;
}

function used(label: string, calls: number, left: number): Html {
  const most = calls + left;
  return html`${numberText(calls)} <meter aria-label="${label}" min="0" max="${most}" high="${most * 0.8}" optimum="0" value="${calls}"></meter><span class="hint block">${numberText(left)} left</span>`;
}

function notice({ provider, directLeft, monitorsLeft }: ProviderUsage): Html {
  const whose =
    directLeft > 0 ? "monitors" : monitorsLeft > 0 ? "the API and the dashboard" : "anybody in your organization";
  return html`<p class="notice warning">${providerName(provider)} is not called for ${whose} again until midnight UTC, because the day’s calls are used up. If you need more, contact the operator of this service.</p>
`;
}
