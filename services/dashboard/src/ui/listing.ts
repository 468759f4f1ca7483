import { type Html, html } from "../http/html.ts";

/** Renders a list, or in its place why it is missing: its items are undefined while unavailable. */
export function listing<T>(
  items: readonly T[] | undefined,
  options: {
    readonly unavailable: Html;
    readonly empty: Html | string;
    readonly list: (items: readonly T[]) => Html;
  },
): Html {
  if (!items) return options.unavailable;
  return items.length === 0 ? html`<p class="empty">${options.empty}</p>` : options.list(items);
}
