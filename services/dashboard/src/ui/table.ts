import { type Html, html } from "../http/html.ts";

/**
 * A column of a table: its title, its cells, and what they are. The first column has the headings of the rows. The title of
 * actions is only read aloud. Long and short texts are cut at the end of the line in lists, because they stand in full on the
 * page of the row.
 */
export type Column<Row> = readonly [
  title: string,
  cell: (row: Row) => Html | string | false | undefined,
  holds?: "number" | "action" | "long" | "short" | "share",
];

/** Renders a table, in narrow windows as a list of labelled values. `ofRow` returns the class of a row. */
export function table<Row>(
  className: string,
  rows: readonly Row[],
  columns: readonly (Column<Row> | false)[],
  ofRow?: (row: Row) => string,
): Html {
  const shown = columns.filter((column) => column !== false);
  const [[, head, kind] = [], ...others] = shown;
  const isUntitled = (holds: Column<Row>[2]) => holds === "action" || holds === "share";
  return html`<table${className && html` class="${className}"`}>
<thead><tr>${shown.map(([title, , holds]) => html`<th scope="col"${classOf(holds)}>${isUntitled(holds) ? html`<span class="unseen">${title}</span>` : title}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) => html`<tr${ofRow && html` class="${ofRow(row)}"`}>
<th scope="row"${classOf(kind)}>${head?.(row)}</th>
${others.map(([title, cell, holds]) => html`<td${!isUntitled(holds) && html` data-label="${title}"`}${classOf(holds)}>${cell(row)}</td>`)}
</tr>
`,
  )}</tbody>
</table>`;
}

const classOf = (holds: Column<never>[2]) => holds && html` class="${holds}"`;

/** Renders a value that is not known or not there. */
export const none = (text = "none"): Html => html`<span class="hint">${text}</span>`;

/** Renders texts beside a value of a list, which cuts them where its line ends; all of them are shown on hover. */
export function aside(...texts: readonly (string | false | undefined)[]): Html | undefined {
  const shown = texts.filter(Boolean).join(" ");
  return shown === "" ? undefined : html` <span class="hint" title="${shown}">${shown}</span>`;
}
