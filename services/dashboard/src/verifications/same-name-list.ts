import { type Html, html } from "../http/html.ts";

/** Renders exclusions without identifiers that bear the vendor's name, each in a sentence. */
export function sameNameList(texts: readonly string[]): Html {
  return html`<p class="hint">These exclusions have no UEI and no CAGE code, and may be of somebody else of this name:</p>
<ul>${texts.map((text) => html`<li>${text}</li>`)}</ul>`;
}
