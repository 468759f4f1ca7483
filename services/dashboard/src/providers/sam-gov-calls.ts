import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import type {
  GetSamGovCallsResponse,
  SamGovCallCounts,
  SamGovDay,
  SamGovFreshness,
  SamGovQuota,
  SamGovWatchedVendors,
} from "@vvs/proto/verification/v1/sam_gov_calls";
import { live } from "../http/environments.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandler } from "../http/session.ts";
import { frequencyName } from "../monitors/monitor-form.ts";
import type { PageContext } from "../page/page-context.ts";
import { facts, section, state, time } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { numberText } from "../ui/vocabulary.ts";

/** Creates the handler that shows operators how the quota of SAM.gov's API is used. */
export function createSamGovCallsHandler({ verification, layout }: PageContext): PageHandler {
  return async (_request, response, visit) => {
    const content = samGovCallsPage(await verification.getSamGovCalls({}));
    layout.sendPage(response, { visit, title: "SAM.gov calls", parents: [["/providers", "Providers"]], content });
  };
}

/** Who calls are made for. */
type CallClass = "direct" | "first" | "runs";

export const SAM_GOV_CALLS_PATH = `${live.path}/providers/sam_gov_api/calls`;

function samGovCallsPage(found: GetSamGovCallsResponse): Html {
  return html`<p>How the daily quota of SAM.gov’s API is used, by all organizations together. Only operators of the product can see this page. Days are UTC.</p>
${noticeOf(found)}
${today(found)}
${freshnessSection(found.freshness)}
${organizationsToday(found)}
${section("days", `The last ${found.days.length} days`)`
<p class="hint">“Planned” is what later runs were expected to need, as calculated on the day before.</p>
${dayTable(found)}`}`;
}

/** Without a quota, only days on which something was counted say something. */
function dayTable({ days, quota }: GetSamGovCallsResponse): Html {
  const shown = quota
    ? days
    : days.filter((day) => day.planned !== undefined || day.vendorsAsked > 0 || totalOf(day) > 0);
  if (shown.length === 0) return html`<p class="empty">Nothing was counted on these days.</p>`;
  const number = (day: SamGovDay, of: number) => (quota || totalOf(day) > 0 ? numberText(of) : "not counted");
  return table("calls", shown, [
    ["Day", ({ day }) => day],
    ["Planned", ({ planned }) => numberOrNone(planned), "number"],
    ["Later runs", (day) => number(day, day.calls!.runs), "number"],
    ["First runs", (day) => number(day, day.calls!.first), "number"],
    ["Direct calls", (day) => number(day, day.calls!.direct), "number"],
    ["Total", (day) => number(day, totalOf(day)), "number"],
    ["Vendors asked about", ({ vendorsAsked }) => numberText(vendorsAsked), "number"],
  ]);
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
  return section("today", "Today", "card long-labels")`${facts([
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
  ])}`;
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
  return section("organizations", "Organizations with the most calls today")`
<p class="hint">Direct calls and first runs count against a budget of each organization. When it is spent, its attempts end as <code>budget_spent</code> and the next provider is called for it; other organizations are not affected. To change the budget of an Enterprise organization, run <code>npm run admin -- organization set-budget ORGANIZATION_ID --provider sam_gov_api --minute CALLS --day CALLS</code>.</p>
${table("", organizations, [
  [
    "Organization",
    ({ organizationId, directLeft, firstLeft }) =>
      html`<code>${organizationId}</code>${(directLeft === 0 || firstLeft === 0) && html` ${state("error", "out of budget")}`}`,
  ],
  ["Direct calls", ({ direct, directLeft }) => budgetText(direct, directLeft)],
  ["First runs", ({ first, firstLeft }) => budgetText(first, firstLeft)],
])}`;
}

const budgetText = (spent: number, left: number | undefined) =>
  `${numberText(spent)} spent${left === undefined ? "" : `, ${numberText(left)} left`}`;

const totalOf = ({ calls }: SamGovDay) => calls!.direct + calls!.first + calls!.runs;
const numberOrNone = (number: number | undefined) => (number === undefined ? "none" : numberText(number));

/** Renders how fresh the data of monitored vendors is, and which quota keeps how much of it fresh. */
function freshnessSection(freshness: SamGovFreshness | undefined): Html | undefined {
  const shown = freshness?.watched.filter(({ vendors }) => vendors > 0) ?? [];
  if (!freshness || shown.length === 0) return undefined;
  const { countedAt, quotas, dailyForAll } = freshness;
  const total = shown.reduce((sum, { vendors }) => sum + vendors, 0);
  const fresh = shown.reduce((sum, each) => sum + freshOf(each), 0);
  return section("freshness", "How fresh the data of monitored vendors is")`
<p>Of ${numberText(total)} vendors, ${countText(fresh, total)} have registration data that is at most as old as the frequency of their monitors. Counted ${time(countedAt)}.</p>
<p class="hint">A vendor counts once, with the shortest frequency of its monitors. Calls that later runs do not need today ask for the oldest data again: first for hourly monitors, then for daily, weekly and monthly ones.</p>
${table("calls", shown, [
  ["Frequency", ({ frequency }) => frequencyName(frequency)],
  ["Vendors", ({ vendors }) => numberText(vendors), "number"],
  ["Fresh enough", (each) => countText(freshOf(each), each.vendors), "number"],
  ["At most a day old", ({ dayOld, vendors }) => countText(dayOld, vendors), "number"],
  ["At most 7 days", ({ weekOld, vendors }) => countText(weekOld, vendors), "number"],
  ["At most 30 days", ({ monthOld, vendors }) => countText(monthOld, vendors), "number"],
])}
<h3>What a quota buys</h3>
${table("calls", quotas, [
  ["Calls a day", ({ daily }) => numberText(daily)],
  ["Vendors kept fresh enough", (option) => countText(option.fresh, total), "number"],
])}
<p class="hint">Half of a quota, without the calls that later runs need, keeps data fresh. Vendors that registry files keep fresh are not taken off. To keep all ${numberText(total)} vendors fresh enough, a quota of ${numberText(dailyForAll)} calls a day is needed.</p>`;
}

/** Returns the vendors whose data is at most as old as the frequency of their monitors. */
function freshOf({ frequency, hourOld, dayOld, weekOld, monthOld }: SamGovWatchedVendors): number {
  if (frequency === Frequency.HOURLY) return hourOld;
  if (frequency === Frequency.DAILY) return dayOld;
  return frequency === Frequency.WEEKLY ? weekOld : monthOld;
}

/** Returns a count with its share, rounded down, such as "1,960 (98 %)". */
const countText = (part: number, whole: number) => `${numberText(part)} (${Math.floor((part / whole) * 100)} %)`;
