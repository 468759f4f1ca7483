import type { Logger } from "@vvs/logging";
import type { ReceivedBody } from "../../questions/question.ts";
import { type ProviderHttp, parseJsonAnswer } from "../http/provider-http.ts";
import { ProviderError } from "../provider.ts";
import { type ExclusionRow, readExclusionPage } from "./exclusion.ts";
import { redact } from "./redact.ts";
import { requireAnswer } from "./refusal.ts";
import { type EntityRow, readEntityPage } from "./registration.ts";
import type { Page } from "./shapes.ts";

/** Rows per page; SAM.gov refuses larger pages. */
const PAGE_SIZE = 10;
/** Maximum number of pages: enough for 100 UEIs with ten accounts each. */
const MAX_PAGES = 100;
/**
 * Maximum number of pages of one question about exclusions. With two calls for the registration these are the 5 that are
 * reserved for runs on the smallest quota, so that no vendor with many rows uses up each day's quota without an answer.
 */
const MAX_EXCLUSION_PAGES = 3;
/** Maximum number of values that one call asks for. */
export const MAX_VALUES = 100;

/** The identifiers that rows are asked for by. */
export type SamGovQuery = { readonly ueiSAM: readonly string[] } | { readonly cageCode: readonly string[] };

/** All rows that answer a query, and the bodies they came in. */
export interface Listing<Row> {
  readonly rows: readonly Row[];
  readonly bodies: readonly ReceivedBody[];
}

/** SAM.gov's public APIs. Errors of each method: ProviderError. */
export interface SamGovClient {
  /** Returns the rows of registrations, or of ids without a registration. */
  entities(query: SamGovQuery, samRegistered: "Yes" | "No", signal: AbortSignal): Promise<Listing<EntityRow>>;
  /**
   * Returns the rows of exclusions, page by page until there are enough: `isEnough` is asked after each with all rows. The
   * listing is incomplete where further rows were not read, or may have been missed since pages shifted.
   */
  exclusions(
    query: SamGovQuery,
    isEnough: (rows: readonly ExclusionRow[], at: Date) => boolean,
    signal: AbortSignal,
  ): Promise<Listing<ExclusionRow> & { readonly isComplete: boolean }>;
}

/**
 * Creates a client of the Entity Management API and the Exclusions API v4 that sends its key in a header. A listing is
 * either complete or an error: for example where rows are missing, where pages shifted while they were read, or where
 * rows of other vendors came.
 */
export function createSamGovClient(options: {
  http: Pick<ProviderHttp, "call">;
  baseUrl: string;
  entityVersion: "v3" | "v4";
  apiKey: string;
  now: () => Date;
  logger: Logger;
}): SamGovClient {
  const { http, apiKey, now, logger } = options;
  const base = `${options.baseUrl}/entity-information`;
  const urlOf = (path: string, index: number) => `${base}/${path}&page=${index}&size=${PAGE_SIZE}`;

  async function page<Row>(url: string, read: (json: unknown) => Page<Row>, signal: AbortSignal) {
    const headers = { "X-Api-Key": apiKey, Accept: "application/json" };
    const response = await http.call({ method: "GET", url, headers, signal });
    if (response.status === 401 || response.status === 403) {
      logger.error(
        { provider: "sam_gov_api", status: response.status },
        "SAM.gov refuses the key: it may have expired",
      );
    }
    // Redacted before it is parsed, so that no value taken from it holds a key.
    const answer = { ...requireAnswer(response, now()), text: redact(response.text, apiKey) };
    return { ...read(parseJsonAnswer(answer)), body: { url, receivedAt: now(), text: answer.text } };
  }

  async function list<Row extends { raw: unknown }>(
    path: string,
    read: (json: unknown) => Page<Row>,
    signal: AbortSignal,
  ): Promise<Listing<Row>> {
    const first = await page(urlOf(path, 0), read, signal);
    const count = Math.ceil(first.totalRecords / PAGE_SIZE);
    if (count > MAX_PAGES) throw new ProviderError("too_large");
    const others = Array.from({ length: Math.max(0, count - 1) }, (_, index) =>
      page(urlOf(path, index + 1), read, signal),
    );
    const pages = [first, ...(await Promise.all(others))];
    if (haveShifted(pages)) throw new ProviderError("wrong_shape");
    requireCounted(pages);
    return { rows: pages.flatMap((each) => each.rows), bodies: pages.map(({ body }) => body) };
  }

  return {
    async entities(query, samRegistered, signal) {
      const sections = "includeSections=entityRegistration,coreData";
      const path = `${options.entityVersion}/entities?${queryOf(query)}&samRegistered=${samRegistered}&${sections}`;
      const listing = await list(path, readEntityPage, signal);
      requireOwnRows(query, listing.rows, ({ uei, cage }) => ("ueiSAM" in query ? [uei] : [cage]));
      return listing;
    },
    async exclusions(query, isEnough, signal) {
      const path = `v4/exclusions?${queryOf(query)}`;
      const pages: (Page<ExclusionRow> & { body: ReceivedBody })[] = [];
      const rows: ExclusionRow[] = [];
      let isLast = false;
      while (!isLast && pages.length < MAX_EXCLUSION_PAGES && !(pages.length > 0 && isEnough(rows, now()))) {
        const next = await page(urlOf(path, pages.length), readExclusionPage, signal);
        requireOwnRows(query, next.rows, ({ ueis, cages }) => ("ueiSAM" in query ? ueis : cages));
        pages.push(next);
        rows.push(...next.rows);
        isLast = pages.length * PAGE_SIZE >= next.totalRecords;
      }
      if (isLast) requireCounted(pages);
      return { rows, bodies: pages.map(({ body }) => body), isComplete: isLast && !haveShifted(pages) };
    },
  };
}

/** Returns true where a row is on two pages. Another one may be on none, if SAM.gov sorted the rows differently in between. */
function haveShifted(pages: readonly Page<{ raw: unknown }>[]): boolean {
  const perPage = pages.map(({ rows }) => new Set(rows.map(({ raw }) => JSON.stringify(raw))));
  const distinct = new Set(perPage.flatMap((rows) => [...rows])).size;
  return distinct < perPage.reduce((sum, rows) => sum + rows.size, 0);
}

/** Errors: ProviderError `wrong_shape` where rows are missing. */
function requireCounted(pages: readonly Page<unknown>[]): void {
  const count = pages.reduce((sum, { rows }) => sum + rows.length, 0);
  if (pages.some(({ totalRecords }) => totalRecords !== count)) throw new ProviderError("wrong_shape");
}

/** Errors: ProviderError `wrong_shape` where rows of other vendors came: SAM.gov misunderstood the query. */
function requireOwnRows<Row>(query: SamGovQuery, rows: readonly Row[], namesOf: (row: Row) => readonly string[]): void {
  const values = new Set<string>(Object.values(query).flat());
  if (!rows.every((row) => namesOf(row).some((name) => values.has(name)))) throw new ProviderError("wrong_shape");
}

/**
 * Returns the query as a URL parameter. Values are not escaped, so only letters and digits are allowed: the API refuses
 * `& | { } ^ \`, and reads `~ ! * [ ]` as operators. Errors: ProviderError `unaskable`.
 */
function queryOf(query: SamGovQuery): string {
  const [name, values] = Object.entries(query)[0] as [string, readonly string[]];
  if (values.length === 0 || values.length > MAX_VALUES || !values.every((value) => /^[A-Z0-9]+$/.test(value))) {
    throw new ProviderError("unaskable", { isFault: false });
  }
  return `${name}=${values.length === 1 ? values[0] : `[${values.join("~")}]`}`;
}
