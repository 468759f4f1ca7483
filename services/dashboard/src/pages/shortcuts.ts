import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";

/** The second key of g and a letter, by where it leads. */
export const shortcutKeys = {
  overview: "o",
  entities: "e",
  verifications: "v",
  monitors: "m",
  providers: "p",
  "api-keys": "k",
  webhooks: "w",
  usage: "u",
  organization: "i",
  Live: "l",
  Test: "t",
} as const;

/** The help that `?` opens, and the button for those who do not know of it; hidden where its script does not run. */
export function shortcutsHelp(view: EnvironmentView, sections: Readonly<Record<string, string>>): Html {
  const keys: Readonly<Record<string, string>> = shortcutKeys;
  const leading = Object.entries({ ...sections, Live: "The same in live", Test: "The same in test" });
  return html`<footer><button type="button" class="quiet" data-help hidden>Keyboard shortcuts</button></footer>
<dialog id="shortcuts" aria-labelledby="shortcuts-title" data-search="${view.path}/entities">
<h2 id="shortcuts-title">Keyboard shortcuts</h2>
<dl class="keys">
<div><dt><kbd>?</kbd></dt><dd>This help</dd></div>
<div><dt><kbd>/</kbd></dt><dd>Search on this page, or for entities</dd></div>
${leading.flatMap(([to, name]) => (keys[to] ? [html`<div><dt><kbd>g</kbd> <kbd>${keys[to]}</kbd></dt><dd>${name}</dd></div>`] : []))}
</dl>
<label class="check"><input type="checkbox" id="shortcuts-used" checked> <span>Use these shortcuts</span></label>
<form method="dialog"><button>Close</button></form>
</dialog>`;
}
