import { type Html, html } from "../http/html.ts";

/** A field that changed; undefined values were or are absent. */
export interface ShownChange {
  readonly field: string | Html;
  readonly previous?: string;
  readonly current?: string;
}

/** Renders changed fields with their values before and after, marked as deleted and inserted unless `isPlain`. */
export function changeTable(changes: readonly ShownChange[], { isPlain = false } = {}): Html {
  const none = html`<span class="hint">none</span>`;
  return html`<table${!isPlain && html` class="changed"`}>
<thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${changes.map(
    ({
      field,
      previous,
      current,
    }) => html`<tr><th scope="row">${typeof field === "string" ? html`<code>${field}</code>` : field}</th><td data-label="Before">${previous === undefined ? none : isPlain ? previous : html`<del>${previous}</del>`}</td><td data-label="After">${current === undefined ? none : isPlain ? current : html`<ins>${current}</ins>`}</td></tr>
`,
  )}</tbody>
</table>`;
}
