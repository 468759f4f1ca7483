import { type Html, html } from "@vvs/http/html";

/** Returns the HTML of the Markdown that descriptions use: paragraphs, lists, `code`, **bold** and [links](#id). */
export function markdown(text: string): Html[] {
  return text.split(/\n{2,}/).flatMap((block) => blocksOf(block.split("\n")));
}

/** A block can begin with a sentence and continue with a list. */
function blocksOf(lines: readonly string[]): Html[] {
  const start = lines.findIndex((line) => line.startsWith("- "));
  if (start < 0) return [html`<p>${inline(lines.join(" "))}</p>`];
  const before = lines.slice(0, start).join(" ");
  const items = lines.slice(start).map((line) => html`<li>${inline(line.slice(2))}</li>`);
  return [...(before ? [html`<p>${inline(before)}</p>`] : []), html`<ul>${items}</ul>`];
}

/** Returns the HTML of a line with `code`, **bold** and links to places of the page. */
export function inline(text: string): Html[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\(#[^)]+\))/).map((part) => {
    if (part.startsWith("`")) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith("**")) return html`<strong>${part.slice(2, -2)}</strong>`;
    const [, linked, id] = /^\[(.+)\]\(#(.+)\)$/.exec(part) ?? [];
    return linked ? html`<a href="#${id}">${linked}</a>` : html`${part}`;
  });
}
