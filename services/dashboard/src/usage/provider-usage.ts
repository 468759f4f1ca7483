import type { ProviderUsage } from "@vvs/proto/verification/v1/provider_usage";
import { type Html, html } from "../http/html.ts";
import { providerName } from "../ui/vocabulary.ts";
import { numberText } from "./usage-figures.ts";

/**
 * Renders the organization's calls to providers today, against its budgets. Nothing where it has none; undefined while
 * unavailable.
 */
export function providerUsageSection(usage: readonly ProviderUsage[] | undefined): Html | undefined {
  if (usage?.length === 0) return undefined;
  return html`<section aria-labelledby="provider-usage">
<h2 id="provider-usage">Your calls to providers today</h2>
<p class="hint">Your plan allows a number of calls to each provider per day (UTC). Part of them is kept for monitors, and part for the API and this dashboard. When none are left, the provider is not called: the next one is, and a check that no provider answers has no answer. Answers from loaded files and stored answers are not counted.</p>
${usage ? tableOf(usage) : html`<p class="notice warning" role="status">Your calls to providers are temporarily unavailable. They are still counted. Try again in a moment.</p>`}
</section>`;
}

function tableOf(usage: readonly ProviderUsage[]): Html {
  const spent = usage.filter(({ directLeft, monitorsLeft }) => directLeft === 0 || monitorsLeft === 0);
  return html`<table class="limits">
<thead><tr><th scope="col">Provider</th><th scope="col">API and dashboard</th><th scope="col">Monitors</th><th scope="col" class="number">Maximum per day</th><th scope="col" class="number">Maximum per minute</th></tr></thead>
<tbody>
${usage.map(row)}
</tbody>
</table>
${spent.map(notice)}`;
}

function row({ provider, direct, directLeft, monitors, monitorsLeft, perDay, perMinute }: ProviderUsage): Html {
  const name = providerName(provider);
  return html`<tr>
<th scope="row">${name}</th>
<td data-label="API and dashboard">${used(`${name}: used by the API and the dashboard`, direct, directLeft)}</td>
<td data-label="Monitors">${used(`${name}: used by monitors`, monitors, monitorsLeft)}</td>
<td data-label="Maximum per day" class="number">${numberText(perDay)}</td>
<td data-label="Maximum per minute" class="number">${numberText(perMinute)}<span class="hint block">API and dashboard</span></td>
</tr>
`;
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
