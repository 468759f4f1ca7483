import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { HealthFigures, ProviderHealth } from "@vvs/proto/verification/v1/provider_health";
import { type Html, html } from "../http/html.ts";
import { checkName, checkTitle } from "../ui/checks.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { stackedBars } from "../ui/plot.ts";
import { providerName } from "../ui/vocabulary.ts";
import { durationText } from "../usage/usage-figures.ts";
import { labelOf, tickOf, type UsageRange } from "../usage/usage-range.ts";

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
