import { type Html, html } from "../http/html.ts";

/** A field that changed; undefined values were or are absent. */
export interface ShownChange {
  readonly field: string;
  readonly previous?: string | undefined;
  readonly current?: string | undefined;
}

/** Renders changed fields with their values before and after, marked as deleted and inserted. */
export function changeTable(changes: readonly ShownChange[]): Html {
  const none = html`<span class="hint">none</span>`;
  return html`<table class="changed">
<thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${changes.map(
    ({ field, previous, current }) =>
      html`<tr><th scope="row">${field}</th><td data-label="Before">${previous === undefined ? none : html`<del>${previous}</del>`}</td><td data-label="After">${current === undefined ? none : html`<ins>${current}</ins>`}</td></tr>
`,
  )}</tbody>
</table>`;
}
