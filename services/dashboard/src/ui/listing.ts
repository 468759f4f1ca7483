import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type IdPrefix, isId } from "@vvs/ids";
import type { Position } from "@vvs/proto/common/v1/common";
import { pathWithQuery } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";

/** Renders what is shown where there is nothing; text is one paragraph. */
export const emptyNote = (note: Html | string): Html =>
  typeof note === "string" ? html`<p class="empty">${note}</p>` : note;

/** Renders a list, or in its place why it is missing: its items are undefined while unavailable. */
export function listing<T>(
  items: readonly T[] | undefined,
  options: {
    readonly unavailable: Html;
    readonly empty: Html | string;
    readonly list: (items: readonly T[]) => Html;
  },
): Html {
  const { unavailable, empty, list } = options;
  if (!items) return unavailable;
  return items.length > 0 ? list(items) : emptyNote(empty);
}

/** Renders the links to the first and to the next page of a list, or on paper that it is one page of several. */
export function pager(options: {
  readonly path: string;
  readonly filter?: Readonly<Record<string, string>>;
  readonly isFirst: boolean;
  /** The position of the next page, as text. */
  readonly next: string | undefined;
  /** What the list has pages of. */
  readonly label?: string;
  readonly links?: readonly [first: string, next: string];
}): Html {
  const { path, filter = {}, isFirst, next, label = "Pages", links = ["Newest", "Older"] } = options;
  return html`<nav class="pager" aria-label="${label}">
${(!isFirst || next) && html`<p class="printed">This is one page of a longer list.</p>`}
${!isFirst && html`<a class="button quiet" href="${pathWithQuery(path, filter)}">${links[0]}</a>`}
${next && html`<a class="button quiet" href="${pathWithQuery(path, { ...filter, after: next })}" rel="next">${links[1]}</a>`}
</nav>`;
}

export type ListPosition = Pick<Position, "createdAt" | "id">;

/** Returns a position in a list as text for links: the time and the id of the item before the page. */
export const writePosition = ({ createdAt, id }: ListPosition): string =>
  `${timestampDate(createdAt!).toISOString()}~${id}`;

/**
 * Reads a position from a query parameter. Its id must have the given prefix or be an entry of a log. Returns
 * undefined (the beginning of the list) if the parameter is absent. Errors: ProblemError if it is malformed.
 */
export function readPosition(text: unknown, prefix: IdPrefix | "log"): ListPosition | undefined {
  if (text === undefined) return undefined;
  const [time = "", id = "", ...others] = typeof text === "string" ? text.split("~") : [];
  const at = new Date(time);
  const isTime = !Number.isNaN(at.getTime()) && at.toISOString() === time;
  const isRightId = prefix === "log" ? /^[0-9a-f]{24}$/.test(id) : isId(prefix, id);
  if (!isTime || !isRightId || others.length > 0) throw new ProblemError("malformed");
  return { createdAt: timestampFromDate(at), id };
}
