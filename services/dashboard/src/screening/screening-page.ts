import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Vendor } from "@vvs/proto/entity/v1/vendors";
import { longDay } from "@vvs/registration";
import { type Html, html } from "../http/html.ts";
import { pathWithQuery } from "../http/paths.ts";
import type { Visit } from "../http/session.ts";
import { outcomeName } from "../ui/checks.ts";
import { dayTime } from "../ui/dates.ts";
import { inputField } from "../ui/fields.ts";
import { facts, state, time } from "../ui/parts.ts";
import { lastMonth, type Period, type ReadPeriod, thisMonth } from "./period.ts";
import type { ScreeningRow } from "./screening-rows.ts";

/** What the page of a report shows. */
export interface ScreeningReport {
  /** Newest first. */
  readonly rows: readonly ScreeningRow[];
  /** Number of vendors in the rows. */
  readonly vendors: number;
  /** The period has more answers than the page shows. */
  readonly isCut: boolean;
  /** Vendors of the list that were not checked in the period; undefined where not all answers were read. */
  readonly unchecked: readonly Vendor[] | undefined;
  /** There are more such vendors than the page shows. */
  readonly isUncheckedCut: boolean;
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
  const { rows, vendors, isCut, unchecked, isUncheckedCut } = report;
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
  ["Not checked", unchecked && `${unchecked.length}${isUncheckedCut ? " or more" : ""} of the vendors in the list`],
])}
<p class="unprinted row"><a class="button" href="${csv}">Download as CSV</a> <span class="hint">To print the report, use your browser’s print command.</span></p>
${isCut && html`<p class="notice warning">The period has more answers than this page shows: these are the newest ones. The CSV file has all of them, and the vendors that were not checked.</p>`}
${rows.length === 0 ? html`<p class="empty">No vendor was checked in this period.</p>` : answersTable(view.path, rows)}
</section>
${unchecked && unchecked.length > 0 && uncheckedSection(view.path, unchecked, period, isUncheckedCut)}`;
}

function answersTable(path: string, rows: readonly ScreeningRow[]): Html {
  return html`<table class="screening">
<thead><tr><th scope="col">Vendor</th><th scope="col">Checked at</th><th scope="col">Check</th><th scope="col">Answer</th><th scope="col">Source</th><th scope="col">Requested by</th></tr></thead>
<tbody>${rows.map(
    (row) => html`<tr>
<th scope="row"><a href="${path}/vendors/${row.entityId}">${row.vendor}</a>${row.number && html` <span class="hint">${row.number}</span>`}${row.uei && html` <span class="hint">UEI ${row.uei}</span>`}</th>
<td data-label="Checked at"><a href="${path}/verifications/${row.verificationId}">${time(timestampFromDate(row.checkedAt))}</a></td>
<td data-label="Check">${row.words.check}</td>
<td data-label="Answer">${state(row.answer, outcomeName(row.answer))} <span class="hint">${row.words.answer}</span></td>
<td data-label="Source">${row.source ? html`${row.source} <span class="hint">data as of ${dayTime(row.dataDate)}</span>` : html`<span class="hint">none answered</span>`}</td>
<td data-label="Requested by">${row.requestedBy.split(" ").slice(0, -1).join(" ") || row.requestedBy}</td>
</tr>
`,
  )}</tbody>
</table>`;
}

function uncheckedSection(path: string, vendors: readonly Vendor[], { from, to }: Period, isCut: boolean): Html {
  return html`<section aria-labelledby="unchecked">
<h2 id="unchecked">Not checked from ${longDay(from)} to ${longDay(to)}</h2>
<p>These vendors are in your list today, and have no verification in this period. Archived vendors are left out.${isCut && " The CSV file has all of them."}</p>
<ul>${vendors.map(({ entity }) => html`<li><a href="${path}/vendors/${entity?.id ?? ""}">${entity?.legalName ?? ""}</a>${entity?.externalId && html` <span class="hint">${entity.externalId}</span>`}</li>`)}</ul>
</section>`;
}
