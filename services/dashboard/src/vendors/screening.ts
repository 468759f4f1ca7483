import { checkOf } from "@vvs/checks";
import { longDay } from "@vvs/registration";
import { sendCsv } from "../http/csv.ts";
import { pathWithQuery } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { unavailableNote, unlessUnavailable } from "../page/panels.ts";
import { inputField } from "../ui/fields.ts";
import { checkTitle, dayTime, facts, outcomeState, section, statusName, time } from "../ui/parts.ts";
import { none, table } from "../ui/table.ts";
import { confirmedText, noChangeText } from "../verdicts/confirmed-words.ts";
import { verdictOf } from "../verdicts/verdict.ts";
import { bounds, lastMonth, type Period, type ReadPeriod, readPeriod, thisMonth } from "./screening-period.ts";
import {
  cellsOfUnverified,
  columns,
  confirmedSince,
  createReadScreening,
  type ListedVendor,
  namesOf,
  requesterOf,
  rowsOf,
  type ScreeningRow,
  sourceOf,
} from "./screening-rows.ts";

/** Maximum number of answers on the page. */
const SHOWN = 1_000;
/** Maximum number of vendors on the page that were not verified. */
const UNVERIFIED_SHOWN = 500;
/** Maximum number of verifications in a CSV file. */
const MAX_VERIFICATIONS = 200_000;

export function createScreeningHandlers(context: PageContext) {
  const { layout, logger } = context;
  const read = createReadScreening(context);

  async function reportOf(visit: Visit, period: Period) {
    const rows: ScreeningRow[] = [];
    for await (const chunk of read.verifications(visit, period)) {
      rows.push(...chunk.flatMap(rowsOf));
      if (rows.length > SHOWN) break;
    }
    const isCut = rows.length > SHOWN;
    const checked = new Set(rows.map(({ verification }) => verification.entityId));
    const unverified = isCut ? [] : await unverifiedOf(visit, period, checked);
    return {
      rows: rows.slice(0, SHOWN),
      isCut,
      unverified: isCut ? undefined : unverified.slice(0, UNVERIFIED_SHOWN),
      isUnverifiedCut: unverified.length > UNVERIFIED_SHOWN,
    };
  }

  /** Returns vendors that were not verified: all of them, or more than fit on the page. */
  async function unverifiedOf(visit: Visit, period: Period, verified: ReadonlySet<string>) {
    const found = [];
    for await (const vendors of read.vendors(visit, period)) {
      found.push(...vendors.filter(({ vendor }) => !verified.has(vendor.entity?.id ?? "")));
      if (found.length > UNVERIFIED_SHOWN) break;
    }
    return found;
  }

  async function* csvRows(visit: Visit, period: Period) {
    const checked = new Set<string>();
    let count = 0;
    for await (const chunk of read.verifications(visit, period)) {
      count += chunk.length;
      if (count > MAX_VERIFICATIONS) {
        yield [
          [
            `The period has more verifications than the ${MAX_VERIFICATIONS} that a file can have. Choose a shorter one.`,
          ],
        ];
        return;
      }
      for (const { verification } of chunk) checked.add(verification.entityId);
      yield chunk.flatMap(rowsOf).map((row) => columns.map(([, cell]) => cell(row)));
    }
    const { start } = bounds(period);
    for await (const vendors of read.vendors(visit, period)) {
      const unverified = vendors.filter(({ vendor }) => !checked.has(vendor.entity?.id ?? ""));
      yield unverified.map((each) => cellsOfUnverified(each, start));
    }
  }

  return {
    async view(request, response, visit) {
      const typed = readPeriod(request.query, visit.now);
      const report = typed.problem
        ? undefined
        : await unlessUnavailable(logger, visit, () => reportOf(visit, typed.period));
      const content = html`${periodForm(visit, typed)}
${!typed.problem && (report ? reportSections(visit, typed.period, report) : unavailableNote("The report"))}`;
      const status = typed.problem ? 400 : report ? 200 : 503;
      const parents = [["/vendors", "Vendors"]] as const;
      layout.sendPage(response, { visit, title: "Screening report", parents, status, content });
    },

    async download(request, response, visit) {
      const { period, problem } = readPeriod(request.query, visit.now);
      if (problem) throw new ProblemError("malformed");
      const name = `screening-${visit.view.name.toLowerCase()}-${period.from}-${period.to}.csv`;
      const titles = columns.map(([title]) => title);
      await sendCsv(response, name, titles, csvRows(visit, period));
    },
  } satisfies PageHandlers;
}

/** What the page of a report shows. */
interface ScreeningReport {
  /** Newest first. */
  readonly rows: readonly ScreeningRow[];
  /** The period has more answers than the page shows. */
  readonly isCut: boolean;
  /** Vendors of the list without a verification in the period; undefined where not all answers were read. */
  readonly unverified: readonly ListedVendor[] | undefined;
  /** There are more such vendors than the page shows. */
  readonly isUnverifiedCut: boolean;
}

function periodForm({ view, now }: Visit, { period, problem }: ReadPeriod): Html {
  const path = `${view.path}/screening`;
  const day = (name: "from" | "to", label: string, shownProblem?: string) =>
    inputField({ name, label, attributes: html` type="date" required`, value: period[name], problem: shownProblem });
  const months = [
    ["Last month", lastMonth(now)],
    ["This month", thisMonth(now)],
  ] as const;
  return html`<form method="get" action="${path}" class="filters unprinted" aria-label="Period">
  ${day("from", "First day (UTC)", problem)}${day("to", "Last day (UTC)")}
  <button class="quiet">Show the report</button>
  ${months.map(([text, month]) => html`<a href="${pathWithQuery(path, { ...month })}">${text}</a> `)}
</form>`;
}

function reportSections(visit: Visit, period: Period, report: ScreeningReport): Html {
  const { rows, isCut, unverified, isUnverifiedCut } = report;
  const vendors = new Set(rows.map(({ verification }) => verification.entityId)).size;
  const runOf = (each: ListedVendor) => confirmedSince(bounds(period).start, each);
  const unchanged = unverified?.filter(runOf);
  const unchecked = unverified?.filter((each) => !runOf(each));
  const days = `from ${longDay(period.from)} to ${longDay(period.to)}`;
  const inCsv = isUnverifiedCut ? " The CSV file has all of them." : "";
  const itemOf = (each: ListedVendor): Html => {
    const run = runOf(each);
    return html`<li>${vendorLink(visit.view.path, each)}${run && html` ${outcomeState(run.outcome)} <span class="hint">${confirmedText(run)}</span>`}</li>`;
  };
  const ofList = (some: readonly ListedVendor[] | undefined) =>
    some && `${some.length}${isUnverifiedCut ? " or more" : ""} of the vendors in the list`;
  const { session, view } = visit;
  const csv = pathWithQuery(`${view.path}/screening.csv`, { ...period });
  const count = (answer: string) => String(rows.filter(({ result }) => statusName(result.status) === answer).length);
  return html`${section("answers", `${session.organizationName}: checks ${days}`)`${facts([
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
${rows.length === 0 ? html`<p class="empty">No vendor was verified in this period.</p>` : answersTable(view.path, rows)}`}
${vendorsSection("unchanged", `No change found ${days}`, `The monitors of these vendors found in our data what their last full check had found, so there is no verification in this period.${inCsv}`, unchanged?.map(itemOf))}
${vendorsSection("unchecked", `Not checked ${days}`, `These vendors are in your list today, and have no verification in this period. Archived vendors are left out.${inCsv}`, unchecked?.map(itemOf))}`;
}

const answersTable = (path: string, rows: readonly ScreeningRow[]): Html =>
  table("screening", rows, [
    [
      "Vendor",
      (row) => {
        const { name, number, uei } = namesOf(row);
        return html`<a href="${path}/vendors/${row.verification.entityId}">${name}</a>${number && html` <span class="hint">${number}</span>`}${uei && html` <span class="hint">UEI ${uei}</span>`}`;
      },
    ],
    [
      "Checked at",
      ({ verification }) =>
        html`<a href="${path}/verifications/${verification.id}">${time(verification.createdAt)}</a>`,
    ],
    ["Check", ({ result }) => checkTitle(result.checkType)],
    [
      "Answer",
      ({ result, at, confirmed }) =>
        html`${outcomeState(result.status)} <span class="hint">${verdictOf(checkOf(result.checkType), { result, at }, at).text}${confirmed && ` ${noChangeText(confirmed)}`}</span>`,
    ],
    [
      "Source",
      (row) => {
        const { source, day } = sourceOf(row);
        return source ? html`${source} <span class="hint">data as of ${dayTime(day)}</span>` : none("none answered");
      },
    ],
    ["Requested by", ({ verification }) => requesterOf(verification) || verification.actor],
  ]);

function vendorsSection(id: string, title: string, text: string, items: readonly Html[] = []): Html | undefined {
  if (items.length === 0) return undefined;
  return section(id, title)`<p>${text}</p>
<ul>${items}</ul>`;
}

function vendorLink(path: string, { vendor: { entity } }: ListedVendor): Html {
  return html`<a href="${path}/vendors/${entity?.id ?? ""}">${entity?.legalName ?? ""}</a>${entity?.externalId && html` <span class="hint">${entity.externalId}</span>`}`;
}
