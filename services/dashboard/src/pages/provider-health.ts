import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { HealthFigures, ProviderHealth } from "@vvs/proto/verification/v1/provider_health";
import { checkName } from "../checks.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import type { UsageRange } from "../usage.ts";
import { durationText, labelOf } from "./figures.ts";
import { stackedBars } from "./plot.ts";
import { providerName } from "./vocabulary.ts";

const SERIES = [
  { name: "Answered", className: "answered" },
  { name: "No answer", className: "failed" },
];

/** How the providers of the page's environment did. `providers` is undefined where it can't be had at the moment. */
export function providerHealthSection(options: {
  view: EnvironmentView;
  range: UsageRange;
  providers: readonly ProviderHealth[] | undefined;
}): Html {
  const { view, range, providers } = options;
  return html`<section aria-labelledby="provider-health">
<div class="heading"><h2 id="provider-health">Providers</h2><p><a href="${view.path}/providers">How they are now</a></p></div>
<p class="hint">How many of the questions that came to each provider of the ${view.name.toLowerCase()} checks it answered, for all who ask, whatever key they use. Where one gives no answer, the next one is asked. Questions that no provider could answer, ${view.environment === "sandbox" ? "and outages that a sandbox vendor asks for, are" : "such as an unusable name, are"} left out.</p>
${!providers && html`<p class="notice warning" role="status">How providers did can’t be shown at the moment. It is counted; try again in a moment.</p>`}
${providers?.length === 0 && html`<p class="empty">No provider was asked in the last ${range.name}. ${nextStep(view)}</p>`}
${providers && providers.length > 0 && html`<div class="panels plots">${providers.map((provider) => plotOf(provider, range))}</div>`}
</section>`;
}

const nextStep = (view: EnvironmentView) =>
  html`<a href="${view.path}/verifications">Run a verification</a>; it shows here some seconds later.`;

function plotOf({ provider, checkType, overall, periods }: ProviderHealth, range: UsageRange): Html {
  const check = checkName(checkType);
  const byTime = new Map(periods.map(({ at, figures }) => [timestampDate(at!).getTime(), figures!]));
  const times = Array.from(
    { length: (range.to.getTime() - range.from.getTime()) / range.stepMs },
    (_, place) => range.from.getTime() + place * range.stepMs,
  );
  return html`<div>
${stackedBars({
  id: `${provider}-${check}`,
  title: `${providerName(provider)}: ${check}`,
  note: summaryOf(overall!),
  series: SERIES,
  points: times.map((time) => ({ label: labelOf(new Date(time), range), values: sharesOf(byTime.get(time)) })),
  text: (share) => `${share} %`,
})}
</div>`;
}

/** Per cent of what was answered and of what was not; nothing where it was not asked. */
function sharesOf(figures: HealthFigures | undefined): (number | undefined)[] {
  return figures ? [figures.answeredPercent, 100 - figures.answeredPercent] : [undefined, undefined];
}

function summaryOf({ answeredPercent, halfWithinMs, mostWithinMs }: HealthFigures): string {
  const answered = answeredPercent === 0 ? "It answered nothing" : `It answered ${answeredPercent} %`;
  return halfWithinMs === 0
    ? `${answered}.`
    : `${answered}: half within ${durationText(halfWithinMs)}, 95 % within ${durationText(mostWithinMs)}.`;
}
