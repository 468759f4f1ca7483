import { type Html, html } from "../http/html.ts";

/** Renders the form that filters a list. In narrow windows it stays closed until it is opened or filters. */
export function filterBox(options: {
  /** Of the list. */
  readonly path: string;
  /** What is filtered, as the accessible name of the form. */
  readonly label: string;
  readonly list: { readonly isNarrowed: boolean; readonly isRefused: boolean };
  readonly fields: Html;
  /** The text of the link to the whole list. */
  readonly all?: string;
}): Html {
  const { path, label, list, fields, all = "Show all" } = options;
  const isUsed = list.isNarrowed || list.isRefused;
  return html`<details class="filter-box wide-open"${isUsed && html` open`}><summary class="button quiet">Filter</summary>
<form method="get" action="${path}" class="card filters" role="search" aria-label="${label}">
  <div class="columns">${fields}</div>
  <div class="row">
    <button class="quiet">Filter</button>
    ${isUsed && html`<a class="unprinted" href="${path}">${all}</a>`}
  </div>
</form>
</details>`;
}
