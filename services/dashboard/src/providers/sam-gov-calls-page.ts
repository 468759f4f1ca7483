import type {
  GetSamGovCallsResponse,
  SamGovCallCounts,
  SamGovDay,
  SamGovOrganization,
  SamGovQuota,
} from "@vvs/proto/verification/v1/sam_gov_calls";
import { type Html, html } from "../http/html.ts";
import { type EnvironmentView, live } from "../ui/environments.ts";
import { facts, numberCells, state, time } from "../ui/parts.ts";
import { numberText } from "../usage/usage-figures.ts";
import { freshnessSection } from "./freshness-section.ts";

/** Who calls are made for. */
type CallClass = "direct" | "first" | "runs";

export const SAM_GOV_CALLS_PATH = `${live.path}/providers/sam_gov_api/calls`;

export function samGovCallsPage(view: EnvironmentView, found: GetSamGovCallsResponse): Html {
  return html`<p class="path"><a href="${view.path}/providers">Providers</a></p>
<h1>SAM.gov calls</h1>
<p>How the daily quota of SAM.gov’s API is used, by all organizations together. Only operators of the product can see this page. Days are UTC.</p>
${noticeOf(found)}
${today(found)}
${freshnessSection(found.freshness)}
${organizationsToday(found)}
<section aria-labelledby="days">
<h2 id="days">The last ${found.days.length} days</h2>
<p class="hint">“Planned” is what later runs were expected to need, as calculated on the day before.</p>
${dayTable(found)}
</section>`;
}

/** Without a quota, only days on which something was counted say something. */
function dayTable({ days, quota }: GetSamGovCallsResponse): Html {
  const shown = quota
    ? days
    : days.filter((day) => day.planned !== undefined || day.vendorsAsked > 0 || totalOf(day) > 0);
  if (shown.length === 0) return html`<p class="empty">Nothing was counted on these days.</p>`;
  return html`<table class="calls">
<thead><tr><th scope="col">Day</th><th scope="col" class="number">Planned</th><th scope="col" class="number">Later runs</th><th scope="col" class="number">First runs</th><th scope="col" class="number">Direct calls</th><th scope="col" class="number">Total</th><th scope="col" class="number">Vendors asked about</th></tr></thead>
<tbody>${shown.map((day) => dayRow(day, quota !== undefined))}</tbody>
</table>`;
}

function noticeOf({ quota, queue }: GetSamGovCallsResponse): Html | undefined {
  if (!quota) {
    return html`<p class="notice warning">No daily quota is configured (<code>SAM_GOV_DAILY_QUOTA</code>), so calls are counted only against the budgets of organizations.</p>`;
  }
  const planned = queue!.plannedTomorrow;
  if (planned <= quota.mostForRuns) return undefined;
  return html`<p class="notice problem">Tomorrow’s plan does not fit: later runs need ${numberText(planned)} calls, and may use ${numberText(quota.mostForRuns)} of ${numberText(quota.daily)}. Some runs will wait longer, and report changes late.</p>`;
}

function today({ quota, days, queue }: GetSamGovCallsResponse): Html {
  const { calls: spent, planned, vendorsAsked } = days[0]!;
  const { waitingRuns, readyRuns, oldestAt, questions, plannedTomorrow } = queue!;
  const calls = (callClass: CallClass) => quota && callsText(spent!, quota, callClass);
  return html`<section class="card long-labels" aria-labelledby="today">
<h2 id="today">Today</h2>
${facts([
  ["Quota", quota && `${numberText(quota.daily)} calls a day`],
  ["Direct calls", calls("direct")],
  ["First runs of monitors", calls("first")],
  ["Later runs of monitors", calls("runs")],
  ["Planned for later runs", numberOrNone(planned)],
  ["Vendors asked about", numberText(vendorsAsked)],
  ["Vendors to ask about", numberText(questions)],
  ["Runs waiting", `${numberText(waitingRuns)} for an answer, ${numberText(readyRuns)} with an answer`],
  ["Oldest waiting since", time(oldestAt)],
  ["Planned for tomorrow", `${numberText(plannedTomorrow)} calls`],
])}
</section>`;
}

/** Returns the calls of a class today, such as "12 spent, 1,900 left (3,000 are reserved)". */
function callsText(spent: SamGovCallCounts, quota: SamGovQuota, callClass: CallClass): string {
  const reserved = quota.reserved![callClass];
  const text = `${numberText(spent[callClass])} spent, ${numberText(quota.left![callClass])} left`;
  return reserved > 0 ? `${text} (${numberText(reserved)} a day are reserved)` : text;
}

/** Renders which organizations use the API today, and which have used up their share. */
function organizationsToday({ organizations }: GetSamGovCallsResponse): Html | undefined {
  if (organizations.length === 0) return undefined;
  return html`<section aria-labelledby="organizations">
<h2 id="organizations">Organizations with the most calls today</h2>
<p class="hint">Direct calls and first runs count against a budget of each organization. When it is spent, its attempts end as <code>budget_spent</code> and the next provider is called for it; other organizations are not affected. To change the budget of an Enterprise organization, run <code>npm run admin -- organization set-budget ORGANIZATION_ID --provider sam_gov_api --minute CALLS --day CALLS</code>.</p>
<table>
<thead><tr><th scope="col">Organization</th><th scope="col">Direct calls</th><th scope="col">First runs</th></tr></thead>
<tbody>${organizations.map(organizationRow)}</tbody>
</table>
</section>`;
}

function organizationRow({ organizationId, direct, directLeft, first, firstLeft }: SamGovOrganization): Html {
  const isSpent = directLeft === 0 || firstLeft === 0;
  return html`<tr><th scope="row"><code>${organizationId}</code>${isSpent && html` ${state("error", "out of budget")}`}</th>
<td data-label="Direct calls">${budgetText(direct, directLeft)}</td>
<td data-label="First runs">${budgetText(first, firstLeft)}</td></tr>
`;
}

const budgetText = (spent: number, left: number | undefined) =>
  `${numberText(spent)} spent${left === undefined ? "" : `, ${numberText(left)} left`}`;

function dayRow(counts: SamGovDay, hasQuota: boolean): Html {
  const { day, planned, vendorsAsked } = counts;
  const { direct, first, runs } = counts.calls!;
  const total = totalOf(counts);
  const shown = (number: number) => (hasQuota || total > 0 ? numberText(number) : "not counted");
  const cells = [
    ["Planned", numberOrNone(planned)],
    ["Later runs", shown(runs)],
    ["First runs", shown(first)],
    ["Direct calls", shown(direct)],
    ["Total", shown(total)],
    ["Vendors asked about", numberText(vendorsAsked)],
  ] as const;
  return html`<tr><th scope="row">${day}</th>${numberCells(cells)}</tr>
`;
}

const totalOf = ({ calls }: SamGovDay) => calls!.direct + calls!.first + calls!.runs;
const numberOrNone = (number: number | undefined) => (number === undefined ? "none" : numberText(number));
