import type { IdPrefix } from "@vvs/ids";
import { utcDay } from "@vvs/registration";
import type { Request } from "express";
import { sendCsv } from "../http/csv.ts";
import { pathWithQuery } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import { type ApiCall, asCurl } from "../ui/curl.ts";
import { type FilterField, filterForm, type ListFilter, readFilter } from "../ui/filter.ts";
import type { Page } from "../ui/layout.ts";
import { emptyNote, type ListPosition, pager, readPosition, writePosition } from "../ui/listing.ts";
import { type Notice, section } from "../ui/parts.ts";
import { type Column, table } from "../ui/table.ts";
import type { PageContext } from "./page-context.ts";
import { unavailableNote, unlessUnavailable } from "./panels.ts";

type Filter<F extends string> = ListFilter<F>["filter"];

/** What was read for one page of a list: the rows, the position of the next page, and anything else that the cells show. */
interface Read<P> {
  readonly rows: readonly unknown[];
  readonly next?: P | undefined;
}

/** How positions in a list are written in addresses. */
interface Positions<P> {
  readonly read: (text: unknown) => P | undefined;
  readonly write: (position: P) => string;
  /** The links to the first and to the next page. */
  readonly links?: readonly [first: string, next: string];
}

/** Positions in a list in the order of time, whose ids have this prefix. */
export const byTime = (prefix: IdPrefix | "log"): Positions<ListPosition> => ({
  read: (text) => readPosition(text, prefix),
  write: writePosition,
});

interface List<F extends string, P, Found extends Read<P>, Choices> {
  /** The path below the environment. */
  readonly path: string;
  /** What the list is of, such as "deliveries". */
  readonly noun: string;
  /** The title of the page, if it is not the noun. */
  readonly title?: string;
  readonly fields: Readonly<Record<F, FilterField<Choices>>>;
  readonly positions: Positions<P>;
  /** Maximum number of rows of a page. */
  readonly limit: number;
  readonly read: (
    visit: Visit,
    filter: Filter<F>,
    page: { limit: number; after: P | undefined; isForFile?: boolean },
  ) => Promise<Found>;
  /** Reads what fields of the filter offer; `found` is undefined for a refused filter, and while unavailable. */
  readonly readChoices?: (visit: Visit, found: Found | undefined) => Promise<Choices>;
  readonly columns: (shown: {
    visit: Visit;
    filter: Filter<F>;
    found: Found;
    choices: Choices;
  }) => readonly (Column<Found["rows"][number]> | false)[];
  readonly parents?: Page["parents"];
  /** The heading of the page, if it is not the title. */
  readonly pageHeading?: (visit: Visit) => string;
  readonly actions?: (visit: Visit, filter: Filter<F>) => Html | false | undefined;
  /** Stands above the filter. */
  readonly intro?: (visit: Visit) => Html;
  /** Whether the rows become more by themselves, so that the page is loaded again every few seconds. */
  readonly refreshes?: boolean;
  /** What was just done. */
  readonly notice?: (request: Request) => Notice | undefined;
  /** The heading of the rows, if it is not about all or matching ones of the environment. */
  readonly heading?: (visit: Visit, list: ListFilter<F>) => string;
  readonly above?: (found: Found, visit: Visit) => Html | false | undefined;
  readonly below?: (found: Found, visit: Visit) => Html | false | undefined;
  /** Shown where there is nothing without a filter. Text is one paragraph. */
  readonly empty: (visit: Visit, found: Found) => Html | string;
  /** Said while the list is unavailable, such as “They keep running.” */
  readonly meanwhile?: string;
  /** Shown where nothing matches. */
  readonly noMatch?: string;
  /** The columns of the list as a file. */
  readonly csv?: readonly (readonly [title: string, cell: (row: Found["rows"][number], found: Found) => string])[];
  /** The operation of the API that does the same, what it does, and its call. */
  readonly curl?: (filter: Filter<F>) => readonly [operation: string, label: string, call: ApiCall];
}

const CSV_PAGE_SIZE = 100;
/** Maximum number of rows in a CSV file. */
const MAX_CSV_ROWS = 100_000;

/** Creates the handlers of a list: its page with a filter, and its file. */
export function listPage<F extends string, P, Found extends Read<P>, Choices = undefined>(
  { layout, logger, apiBaseUrl }: Pick<PageContext, "layout" | "logger" | "apiBaseUrl">,
  list: List<F, P, Found, Choices>,
): { readonly list: PageHandler; readonly download: PageHandler } {
  const { noun, fields, positions, csv = [] } = list;
  const title = list.title ?? noun[0]!.toUpperCase() + noun.slice(1);

  /** Reads a whole list in chunks of rows, up to the maximum. */
  async function* csvRows(visit: Visit, filter: Filter<F>) {
    let after: P | undefined;
    for (let count = 0; count < MAX_CSV_ROWS; count += CSV_PAGE_SIZE) {
      const found = await list.read(visit, filter, { limit: CSV_PAGE_SIZE, after, isForFile: true });
      yield found.rows.map((row) => csv.map(([, cell]) => cell(row, found)));
      if (!found.next) return;
      after = found.next;
    }
    yield [[`Only the first ${MAX_CSV_ROWS} ${noun} are in this file. Choose a filter to get the others.`]];
  }

  /** Renders the rows with what stands above and below them, or why there are none. */
  function rowsOf(visit: Visit, read: ListFilter<F>, found: Found, choices: Choices, isFirst: boolean): Html {
    const { filter, isNarrowed } = read;
    const path = `${visit.view.path}${list.path}`;
    const next = found.next && positions.write(found.next);
    const pages = pager({ path, filter, isFirst, next, links: positions.links });
    if (found.rows.length === 0) {
      if (next) return pages;
      if (!isFirst) return emptyNote(`There are no more ${noun}.`);
      return emptyNote(isNarrowed ? (list.noMatch ?? `No ${noun} match the filter.`) : list.empty(visit, found));
    }
    return html`${table("list", found.rows, list.columns({ visit, filter, found, choices }))}
${csv.length > 0 && html`<p class="choices below unprinted"><a class="button quiet" href="${pathWithQuery(`${path}.csv`, filter)}">Download as CSV</a> <span class="hint">All ${noun} of this list${!isFirst && ", from its beginning"}.</span></p>`}
${pages}`;
  }

  /** Renders the rows under their heading; `found` is undefined while unavailable. */
  function rowsSection(
    visit: Visit,
    read: ListFilter<F>,
    found: Found | undefined,
    rows: (found: Found) => Html,
  ): Html {
    const all = `All ${visit.view.name.toLowerCase()} ${noun}`;
    return section("list", list.heading?.(visit, read) ?? (read.isNarrowed ? `Matching ${noun}` : all))`${
      found
        ? html`${list.above?.(found, visit)}
${rows(found)}
${list.below?.(found, visit)}`
        : unavailableNote(title, list.meanwhile)
    }`;
  }

  return {
    async list(request, response, visit) {
      const read = readFilter(request.query, fields);
      const after = positions.read(request.query.after);
      const { filter, isRefused } = read;
      const page = { limit: list.limit, after };
      const found = isRefused
        ? undefined
        : await unlessUnavailable(logger, visit, () => list.read(visit, filter, page));
      const choices = (await list.readChoices?.(visit, found)) as Choices;
      const curl = list.curl?.(filter);
      const content = html`${list.intro?.(visit)}
${filterForm({ path: `${visit.view.path}${list.path}`, noun, read, fields, choices })}
${!isRefused && rowsSection(visit, read, found, (rows) => rowsOf(visit, read, rows, choices, after === undefined))}
${curl && asCurl(apiBaseUrl, ...curl)}`;
      const status = isRefused ? 400 : found ? 200 : 503;
      layout.sendPage(response, {
        ...{ visit, title, status, content, parents: list.parents, refreshes: list.refreshes, script: "filter.js" },
        ...{
          heading: list.pageHeading?.(visit),
          beside: list.actions?.(visit, filter),
          notice: list.notice?.(request),
        },
      });
    },

    async download(request, response, visit) {
      const { filter, isRefused } = readFilter(request.query, fields);
      if (isRefused) throw new ProblemError("malformed");
      const titles = csv.map(([each]) => each);
      const name = [noun, visit.view.name.toLowerCase(), ...Object.values<string>(filter), utcDay(visit.now)];
      await sendCsv(response, `${name.filter(Boolean).join("-")}.csv`, titles, csvRows(visit, filter));
    },
  };
}
