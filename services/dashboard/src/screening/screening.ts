import { sendCsv } from "../http/csv.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { bounds, type Period, readPeriod } from "./period.ts";
import { createReadScreening } from "./read-screening.ts";
import { type ScreeningReport, screeningPage } from "./screening-page.ts";
import { cellsOf, cellsOfUnverified, columns, rowsOf, type ScreeningRow } from "./screening-rows.ts";

/** Maximum number of answers on the page. */
const SHOWN = 1_000;
/** Maximum number of vendors on the page that were not verified. */
const UNVERIFIED_SHOWN = 500;
/** Maximum number of verifications in a CSV file. */
const MAX_VERIFICATIONS = 200_000;

export function createScreeningHandlers(context: PageContext) {
  const { layout, logger, now } = context;
  const read = createReadScreening(context);

  async function reportOf(visit: Visit, period: Period): Promise<ScreeningReport> {
    const rows: ScreeningRow[] = [];
    for await (const chunk of read.verifications(visit, period)) {
      rows.push(...chunk.flatMap(rowsOf));
      if (rows.length > SHOWN) break;
    }
    const isCut = rows.length > SHOWN;
    const checked = new Set(rows.map(({ entityId }) => entityId));
    const unverified = isCut ? [] : await unverifiedOf(visit, period, checked);
    const shown = rows.slice(0, SHOWN);
    return {
      rows: shown,
      vendors: new Set(shown.map(({ entityId }) => entityId)).size,
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
      yield chunk.flatMap(rowsOf).map(cellsOf);
    }
    const { start } = bounds(period);
    for await (const vendors of read.vendors(visit, period)) {
      const unverified = vendors.filter(({ vendor }) => !checked.has(vendor.entity?.id ?? ""));
      yield unverified.map((each) => cellsOfUnverified(each, start));
    }
  }

  return {
    async view(request, response, visit) {
      const typed = readPeriod(request.query, now());
      const report = typed.problem
        ? undefined
        : await unlessUnavailable(logger, visit, () => reportOf(visit, typed.period));
      const content = screeningPage({ visit, typed, report, now: now() });
      const status = typed.problem ? 400 : report ? 200 : 503;
      layout.sendPage(response, { visit, section: "vendors", title: "Screening report", status, content });
    },

    async download(request, response, visit) {
      const { period, problem } = readPeriod(request.query, now());
      if (problem) throw new ProblemError("malformed");
      const name = `screening-${visit.view.name.toLowerCase()}-${period.from}-${period.to}.csv`;
      await sendCsv(response, name, columns, csvRows(visit, period));
    },
  } satisfies PageHandlers;
}
