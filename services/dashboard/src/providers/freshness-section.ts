import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import type {
  SamGovFreshness,
  SamGovQuotaOption,
  SamGovWatchedVendors,
} from "@vvs/proto/verification/v1/sam_gov_calls";
import { type Html, html } from "../http/html.ts";
import { frequencyName } from "../monitors/monitor-form.ts";
import { numberCells, time } from "../ui/parts.ts";
import { numberText } from "../usage/usage-figures.ts";

/** Renders how fresh the data of monitored vendors is, and which quota keeps how much of it fresh. */
export function freshnessSection(freshness: SamGovFreshness | undefined): Html | undefined {
  const shown = freshness?.watched.filter(({ vendors }) => vendors > 0) ?? [];
  if (!freshness || shown.length === 0) return undefined;
  const { countedAt, quotas, dailyForAll } = freshness;
  const total = shown.reduce((sum, { vendors }) => sum + vendors, 0);
  const fresh = shown.reduce((sum, each) => sum + freshOf(each), 0);
  return html`<section aria-labelledby="freshness">
<h2 id="freshness">How fresh the data of monitored vendors is</h2>
<p>Of ${numberText(total)} vendors, ${countText(fresh, total)} have registration data that is at most as old as the frequency of their monitors. Counted ${time(countedAt)}.</p>
<p class="hint">A vendor counts once, with the shortest frequency of its monitors. Calls that later runs do not need today ask for the oldest data again: first for hourly monitors, then for daily, weekly and monthly ones.</p>
<table class="calls">
<thead><tr><th scope="col">Frequency</th><th scope="col" class="number">Vendors</th><th scope="col" class="number">Fresh enough</th><th scope="col" class="number">At most a day old</th><th scope="col" class="number">At most 7 days</th><th scope="col" class="number">At most 30 days</th></tr></thead>
<tbody>${shown.map(watchedRow)}</tbody>
</table>
<h3>What a quota buys</h3>
<table class="calls">
<thead><tr><th scope="col">Calls a day</th><th scope="col" class="number">Vendors kept fresh enough</th></tr></thead>
<tbody>${quotas.map((option) => optionRow(option, total))}</tbody>
</table>
<p class="hint">Half of a quota, without the calls that later runs need, keeps data fresh. Vendors that registry files keep fresh are not taken off. To keep all ${numberText(total)} vendors fresh enough, a quota of ${numberText(dailyForAll)} calls a day is needed.</p>
</section>`;
}

/** Returns the vendors whose data is at most as old as the frequency of their monitors. */
function freshOf({ frequency, hourOld, dayOld, weekOld, monthOld }: SamGovWatchedVendors): number {
  if (frequency === Frequency.HOURLY) return hourOld;
  if (frequency === Frequency.DAILY) return dayOld;
  return frequency === Frequency.WEEKLY ? weekOld : monthOld;
}

function watchedRow(each: SamGovWatchedVendors): Html {
  const { vendors } = each;
  const cells = [
    ["Vendors", numberText(vendors)],
    ["Fresh enough", countText(freshOf(each), vendors)],
    ["At most a day old", countText(each.dayOld, vendors)],
    ["At most 7 days", countText(each.weekOld, vendors)],
    ["At most 30 days", countText(each.monthOld, vendors)],
  ] as const;
  return html`<tr><th scope="row">${frequencyName(each.frequency)}</th>${numberCells(cells)}</tr>
`;
}

function optionRow({ daily, fresh }: SamGovQuotaOption, total: number): Html {
  return html`<tr><th scope="row">${numberText(daily)}</th>${numberCells([["Vendors kept fresh enough", countText(fresh, total)]])}</tr>
`;
}

/** Returns a count with its share, rounded down, such as "1,960 (98 %)". */
const countText = (part: number, whole: number) => `${numberText(part)} (${Math.floor((part / whole) * 100)} %)`;
