import { type Html, html } from "../http/html.ts";

/** The letter to press after g, by destination. */
export const shortcutKeys = {
  overview: "o",
  vendors: "e",
  lists: "s",
  verifications: "v",
  monitors: "m",
  providers: "p",
  "api-keys": "k",
  webhooks: "w",
  requests: "r",
  usage: "u",
  organization: "i",
  Live: "l",
  Test: "t",
} as const;

/** Renders the help dialog that `?` opens, and a button that opens it too. Both stay hidden without their script. */
export function shortcutsHelp(sections: Readonly<Record<string, string>>): Html {
  const keys: Readonly<Record<string, string>> = shortcutKeys;
  const leading = Object.entries({ ...sections, Live: "This section in Live", Test: "This section in Test" });
  return html`<footer><button type="button" class="quiet" data-help hidden>Keyboard shortcuts</button></footer>
<dialog id="shortcuts" aria-labelledby="shortcuts-title">
<h2 id="shortcuts-title">Keyboard shortcuts</h2>
<dl class="keys">
<div><dt><kbd>?</kbd></dt><dd>Show this help</dd></div>
<div><dt><kbd>/</kbd></dt><dd>Find anything: an ID, a name, a UEI, a CAGE code or your vendor number</dd></div>
<div><dt><kbd>f</kbd></dt><dd>Filter or search on this page</dd></div>
${leading.flatMap(([to, name]) => (keys[to] ? [html`<div><dt><kbd>g</kbd> <kbd>${keys[to]}</kbd></dt><dd>${name}</dd></div>`] : []))}
</dl>
<label class="check"><input type="checkbox" id="shortcuts-used" checked> <span>Use these shortcuts</span></label>
<form method="dialog"><button>Close</button></form>
</dialog>`;
}
