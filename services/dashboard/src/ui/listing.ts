import { type Html, html } from "../http/html.ts";
import { pathWithQuery } from "../http/paths.ts";
import { type ListPosition, writePosition } from "./list-position.ts";

/** Renders a list, or in its place why it is missing: its items are undefined while unavailable. */
export function listing<T>(
  items: readonly T[] | undefined,
  options: {
    readonly unavailable: Html;
    /** Text is shown as one paragraph. */
    readonly empty: Html | string;
    readonly list: (items: readonly T[]) => Html;
  },
): Html {
  const { unavailable, empty, list } = options;
  if (!items) return unavailable;
  if (items.length > 0) return list(items);
  return typeof empty === "string" ? html`<p class="empty">${empty}</p>` : empty;
}

/** On paper, in place of the links to other pages. */
export const partOfList: Html = html`<p class="printed">This is one page of a longer list.</p>`;

/** Renders the links to the first and to the next page of a list. */
export function pager(options: {
  readonly path: string;
  readonly filter?: Readonly<Record<string, string>>;
  readonly isFirst: boolean;
  readonly next: ListPosition | undefined;
  /** What the list has pages of. */
  readonly label?: string;
}): Html {
  const { path, filter = {}, isFirst, next, label = "Pages" } = options;
  return html`<nav class="pager" aria-label="${label}">
${(!isFirst || next) && partOfList}
${!isFirst && html`<a class="button quiet" href="${pathWithQuery(path, filter)}">Newest</a>`}
${next && html`<a class="button quiet" href="${pathWithQuery(path, { ...filter, after: writePosition(next) })}" rel="next">Older</a>`}
</nav>`;
}
