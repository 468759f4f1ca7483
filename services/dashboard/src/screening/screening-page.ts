import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { longDay } from "@vvs/registration";
import { confirmedText, noChangeText } from "../confirmed/confirmed-words.ts";
import { type Html, html } from "../http/html.ts";
import { pathWithQuery } from "../http/paths.ts";
import type { Visit } from "../http/session.ts";
import { outcomeName, outcomeState } from "../ui/checks.ts";
import { dayTime } from "../ui/dates.ts";
import { inputField } from "../ui/fields.ts";
import { facts, state, time } from "../ui/parts.ts";
import { bounds, lastMonth, type Period, type ReadPeriod, thisMonth } from "./period.ts";
import type { ListedVendor } from "./read-screening.ts";
import { confirmedSince, type ScreeningRow } from "./screening-rows.ts";

/** What the page of a report shows. */
export interface ScreeningReport {
  /** Newest first. */
  readonly rows: readonly ScreeningRow[];
  /** Number of vendors in the rows. */
  readonly vendors: number;
  /** The period has more answers than the page shows. */
  readonly isCut: boolean;
  /** Vendors of the list without a verification in the period; undefined where not all answers were read. */
  readonly unverified: readonly ListedVendor[] | undefined;
  /** There are more such vendors than the page shows. */
  readonly isUnverifiedCut: boolean;
}

interface ScreeningView {
  readonly visit: Visit;
  readonly typed: ReadPeriod;
  /** Undefined while unavailable, and for a period that can't be used. */
  readonly report: ScreeningReport | undefined;
  readonly now: Date;
}

export function screeningPage(options: ScreeningView): Html {
  const { visit, typed, report } = options;
  const path = `${visit.view.path}/screening`;
  return html`<p class="path"><a href="${visit.view.path}/vendors">Vendors</a></p>
<h1>Screening report</h1>
${periodForm(path, options)}
${!typed.problem && (report ? reportSections(options, report) : unavailable)}`;
}

const unavailable = html`<p class="notice problem" role="alert">The report can’t be shown, because a service is temporarily unavailable. No data is lost. Try again in a moment.</p>`;

function periodForm(path: string, { typed: { period, problem }, now }: ScreeningView): Html {
  const day = (name: "from" | "to", label: string, shownProblem?: string) =>
    inputField({
      name,
      label,
      attributes: html` type="date" required`,
      value: period[name],
      ...(shownProblem && { problem: shownProblem }),
    });
  const months = [
    ["Last month", lastMonth(now)],
    ["This month", thisMonth(now)],
  ] as const;
  return html`<form method="get" action="${path}" class="card filters unprinted" aria-label="Period">
  <div class="columns">${day("from", "First day (UTC)", problem)}${day("to", "Last day (UTC)")}</div>
  <div class="choices"><button class="quiet">Show the report</button>
  ${months.map(([text, month]) => html`<a href="${pathWithQuery(path, { ...month })}">${text}</a> `)}</div>
</form>`;
}

function reportSections({ visit, typed: { period } }: ScreeningView, report: ScreeningReport): Html {
  const { rows, vendors, isCut, unverified, isUnverifiedCut } = report;
  const isUnchanged = (each: ListedVendor) => confirmedSince(bounds(period).start, each) !== undefined;
  const unchanged = unverified?.filter(isUnchanged);
  const unchecked = unverified?.filter((each) => !isUnchanged(each));
  const ofList = (some: readonly ListedVendor[] | undefined) =>
    some && `${some.length}${isUnverifiedCut ? " or more" : ""} of the vendors in the list`;
  const { session, view } = visit;
  const csv = pathWithQuery(`${view.path}/screening.csv`, { ...period });
  const count = (answer: string) => String(rows.filter((row) => row.answer === answer).length);
  return html`<section aria-labelledby="answers">
<h2 id="answers">${session.organizationName}: checks from ${longDay(period.from)} to ${longDay(period.to)}</h2>
${facts([
  ["Vendors checked", isCut ? `${vendors} on this page` : String(vendors)],
  [
    "Answers",
    `${rows.length}${isCut ? " on this page" : ""}: ${count("pass")} passed, ${count("fail")} failed, ${count("error")} without an answer`,
  ],
  ["No change found", unchanged && unchanged.length > 0 && ofList(unchanged)],
  ["Not checked", ofList(unchecked)],
])}
<p class="unprinted row"><a class="button" href="${csv}">Download as CSV</a> <span class="hint">To print the report, use your browser’s print command.</span></p>
${isCut && html`<p class="notice warning">The period has more answers than this page shows: these are the newest ones. The CSV file has all of them, and the vendors that were not checked.</p>`}
${rows.length === 0 ? html`<p class="empty">No vendor was verified in this period.</p>` : answersTable(view.path, rows)}
</section>
${unchanged && unchanged.length > 0 && unchangedSection(view.path, unchanged, period, isUnverifiedCut)}
${unchecked && unchecked.length > 0 && uncheckedSection(view.path, unchecked, period, isUnverifiedCut)}`;
}

function answersTable(path: string, rows: readonly ScreeningRow[]): Html {
  return html`<table class="screening">
<thead><tr><th scope="col">Vendor</th><th scope="col">Checked at</th><th scope="col">Check</th><th scope="col">Answer</th><th scope="col">Source</th><th scope="col">Requested by</th></tr></thead>
<tbody>${rows.map(
    (row) => html`<tr>
<th scope="row"><a href="${path}/vendors/${row.entityId}">${row.vendor}</a>${row.number && html` <span class="hint">${row.number}</span>`}${row.uei && html` <span class="hint">UEI ${row.uei}</span>`}</th>
<td data-label="Checked at"><a href="${path}/verifications/${row.verificationId}">${time(timestampFromDate(row.checkedAt))}</a></td>
<td data-label="Check">${row.words.check}</td>
<td data-label="Answer">${state(row.answer, outcomeName(row.answer))} <span class="hint">${row.words.answer}${row.confirmation && ` ${noChangeText(row.confirmation)}`}</span></td>
<td data-label="Source">${row.source ? html`${row.source} <span class="hint">data as of ${dayTime(row.dataDate)}</span>` : html`<span class="hint">none answered</span>`}</td>
<td data-label="Requested by">${row.requestedBy.split(" ").slice(0, -1).join(" ") || row.requestedBy}</td>
</tr>
`,
  )}</tbody>
</table>`;
}

function unchangedSection(path: string, listed: readonly ListedVendor[], period: Period, isCut: boolean): Html {
  const { start } = bounds(period);
  return html`<section aria-labelledby="unchanged">
<h2 id="unchanged">No change found from ${longDay(period.from)} to ${longDay(period.to)}</h2>
<p>The monitors of these vendors found in our data what their last full check had found, so there is no verification in this period.${isCut && allInCsv}</p>
<ul>${listed.map((each) => {
    const { outcome, confirmation } = confirmedSince(start, each)!;
    return html`<li>${vendorLink(path, each)} ${outcomeState(outcome)} <span class="hint">${confirmedText(confirmation)}</span></li>`;
  })}</ul>
</section>`;
}

const allInCsv = " The CSV file has all of them.";

function vendorLink(path: string, { vendor: { entity } }: ListedVendor): Html {
  return html`<a href="${path}/vendors/${entity?.id ?? ""}">${entity?.legalName ?? ""}</a>${entity?.externalId && html` <span class="hint">${entity.externalId}</span>`}`;
}

function uncheckedSection(path: string, listed: readonly ListedVendor[], { from, to }: Period, isCut: boolean): Html {
  return html`<section aria-labelledby="unchecked">
<h2 id="unchecked">Not checked from ${longDay(from)} to ${longDay(to)}</h2>
<p>These vendors are in your list today, and have no verification in this period. Archived vendors are left out.${isCut && allInCsv}</p>
<ul>${listed.map((each) => html`<li>${vendorLink(path, each)}</li>`)}</ul>
</section>`;
}
