import { sendCsv } from "../http/csv.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { type Period, readPeriod } from "./period.ts";
import { createReadScreening } from "./read-screening.ts";
import { type ScreeningReport, screeningPage } from "./screening-page.ts";
import { cellsOf, cellsOfUnchecked, columns, rowsOf, type ScreeningRow } from "./screening-rows.ts";

/** Maximum number of answers on the page. */
const SHOWN = 1_000;
/** Maximum number of vendors on the page that were not checked. */
const UNCHECKED_SHOWN = 500;
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
    const unchecked = isCut ? [] : await uncheckedOf(visit, checked);
    const shown = rows.slice(0, SHOWN);
    return {
      rows: shown,
      vendors: new Set(shown.map(({ entityId }) => entityId)).size,
      isCut,
      unchecked: isCut ? undefined : unchecked.slice(0, UNCHECKED_SHOWN),
      isUncheckedCut: unchecked.length > UNCHECKED_SHOWN,
    };
  }

  /** Returns the vendors that are not among the checked ones; one more than the page shows at most. */
  async function uncheckedOf(visit: Visit, checked: ReadonlySet<string>) {
    const found = [];
    for await (const vendors of read.vendors(visit)) {
      found.push(...vendors.filter(({ entity }) => !checked.has(entity?.id ?? "")));
      if (found.length > UNCHECKED_SHOWN) break;
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
    for await (const vendors of read.vendors(visit)) {
      yield vendors.filter(({ entity }) => !checked.has(entity?.id ?? "")).map(cellsOfUnchecked);
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
