import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { Vendors } from "../vendors/vendors.ts";

/** Renders why a text was not searched for, or the several vendors that it means. */
export function findPage(
  options: { visit: Visit } & ({ isRefused: true } | { found: readonly string[]; vendors: Vendors | undefined }),
): Html {
  const { path } = options.visit.view;
  if ("isRefused" in options) {
    return html`<h1>Nothing was searched for</h1>
<p class="notice problem" role="alert">The text contains nine digits, which can be a TIN. So that no TIN gets into an address or a log, it was not used.</p>
<p><a class="button" href="${path}/vendors/search">Search by TIN or D-U-N-S number</a></p>`;
  }
  const { found, vendors } = options;
  return html`<h1>${found.length} vendors have this number</h1>
<ul class="rows">${found.map((id) => html`<li><a href="${path}/vendors/${id}">${vendors?.get(id)?.legalName ?? id}</a></li>`)}</ul>`;
}
