import type { Logger } from "@vvs/logging";
import { ProviderError } from "../provider.ts";
import { type ProviderHttp, parseJsonAnswer } from "../provider-http.ts";
import { type ExclusionRow, readExclusionPage } from "./exclusion.ts";
import { redact } from "./redact.ts";
import { requireAnswer } from "./refusal.ts";
import { type EntityRow, readEntityPage } from "./registration.ts";
import type { Page } from "./shapes.ts";

/** SAM.gov refuses larger pages. */
const PAGE_SIZE = 10;
/** No question has more rows: 100 UEIs with ten accounts each. */
const MAX_PAGES = 100;
/** So many values may one call ask for. */
export const MAX_VALUES = 100;

/** What rows are asked by. */
export type Asked = { readonly ueiSAM: readonly string[] } | { readonly cageCode: readonly string[] };

/** One body as it was received, without keys. */
export interface ReceivedBody {
  /** Of the call; keys are sent in headers. */
  readonly url: string;
  readonly receivedAt: Date;
  readonly text: string;
}

/** All rows that answer a question, and the bodies they came in. */
export interface Listing<Row> {
  readonly rows: readonly Row[];
  readonly bodies: readonly ReceivedBody[];
}

/** SAM.gov's public APIs. Errors of all: ProviderError. */
export interface SamGovClient {
  /** Rows of registrations, or of ids without one. */
  entities(asked: Asked, samRegistered: "Yes" | "No", signal: AbortSignal): Promise<Listing<EntityRow>>;
  exclusions(asked: Asked, signal: AbortSignal): Promise<Listing<ExclusionRow>>;
}

/**
 * Calls the Entity Management API and the Exclusions API v4 with a key in a header. A listing is complete or an error: a
 * body that counts rows which it lacks, pages that shifted while they were read, and rows nobody asked for are no answer.
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

  async function page<Row>(url: string, read: (json: unknown) => Page<Row>, signal: AbortSignal) {
    const headers = { "X-Api-Key": apiKey, Accept: "application/json" };
    const response = await http.call({ method: "GET", url, headers, signal });
    if (response.status === 401 || response.status === 403) {
      logger.error(
        { provider: "sam_gov_api", status: response.status },
        "SAM.gov refuses the key: it may have run out",
      );
    }
    // Redacted before it is read, so that nothing made of it holds a key either.
    const answer = { ...requireAnswer(response, now()), text: redact(response.text, apiKey) };
    return { ...read(parseJsonAnswer(answer)), body: { url, receivedAt: now(), text: answer.text } };
  }

  async function list<Row extends { raw: unknown }>(
    path: string,
    read: (json: unknown) => Page<Row>,
    signal: AbortSignal,
  ): Promise<Listing<Row>> {
    const urlOf = (index: number) => `${base}/${path}&page=${index}&size=${PAGE_SIZE}`;
    const first = await page(urlOf(0), read, signal);
    const count = Math.ceil(first.totalRecords / PAGE_SIZE);
    if (count > MAX_PAGES) throw new ProviderError("too_large");
    const others = Array.from({ length: Math.max(0, count - 1) }, (_, index) => page(urlOf(index + 1), read, signal));
    const pages = [first, ...(await Promise.all(others))];
    requireComplete(pages);
    return { rows: pages.flatMap((each) => each.rows), bodies: pages.map(({ body }) => body) };
  }

  return {
    async entities(asked, samRegistered, signal) {
      const sections = "includeSections=entityRegistration,coreData";
      const path = `${options.entityVersion}/entities?${queryOf(asked)}&samRegistered=${samRegistered}&${sections}`;
      const listing = await list(path, readEntityPage, signal);
      requireAsked(asked, listing.rows, ({ uei, cage }) => ("ueiSAM" in asked ? [uei] : [cage]));
      return listing;
    },
    async exclusions(asked, signal) {
      const listing = await list(`v4/exclusions?${queryOf(asked)}`, readExclusionPage, signal);
      requireAsked(asked, listing.rows, ({ ueis, cages }) => ("ueiSAM" in asked ? ueis : cages));
      return listing;
    },
  };
}

/**
 * All rows that are counted must be there. A row seen on two pages means that another one was seen on none: SAM.gov
 * sorted anew in between.
 */
function requireComplete(pages: readonly Page<{ raw: unknown }>[]): void {
  const perPage = pages.map(({ rows }) => new Set(rows.map(({ raw }) => JSON.stringify(raw))));
  const distinct = new Set(perPage.flatMap((rows) => [...rows])).size;
  const isShifted = distinct < perPage.reduce((sum, rows) => sum + rows.size, 0);
  const count = pages.reduce((sum, { rows }) => sum + rows.length, 0);
  if (isShifted || pages.some(({ totalRecords }) => totalRecords !== count)) throw new ProviderError("wrong_shape");
}

/** Rows of others mean that the question was not understood, so what is missing among them says nothing. */
function requireAsked<Row>(asked: Asked, rows: readonly Row[], namesOf: (row: Row) => readonly string[]): void {
  const values = new Set<string>(Object.values(asked).flat());
  if (!rows.every((row) => namesOf(row).some((name) => values.has(name)))) throw new ProviderError("wrong_shape");
}

/**
 * The part of the query that names what is asked for. Values go in as they are, so only letters and digits may: the API
 * refuses `& | { } ^ \`, and reads `~ ! * [ ]` as operators.
 */
function queryOf(asked: Asked): string {
  const [name, values] = Object.entries(asked)[0] as [string, readonly string[]];
  if (values.length === 0 || values.length > MAX_VALUES || !values.every((value) => /^[A-Z0-9]+$/.test(value))) {
    throw new ProviderError("unaskable", { isFault: false });
  }
  return `${name}=${values.length === 1 ? values[0] : `[${values.join("~")}]`}`;
}
