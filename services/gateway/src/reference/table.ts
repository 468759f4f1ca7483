import { type Html, html } from "@vvs/http/html";
import { inline } from "./markdown.ts";

/** Returns a table. `idOf` returns the id of a row by its number; without it rows have none. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  idOf?: (row: number) => string,
): Html {
  return html`<div class="table"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first = "", ...rest], row) =>
      html`<tr${idOf && html` id="${idOf(row)}"`}><th scope="row">${inline(first)}</th>${rest.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>
`,
  )}</tbody></table></div>`;
}
