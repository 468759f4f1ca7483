import { readFileSync } from "node:fs";
import { type Html, html } from "@vvs/http/html";
import { codeBlock, type Language } from "./code.ts";

/**
 * Returns the HTML of the Markdown that descriptions and guides use: paragraphs, lists, tables, `### Heading {#id}`, and what `inline`
 * knows. A paragraph that begins with `{go python}` is only for these languages. A block of code begins with "id | title | languages";
 * its code can be the name of a program, such as `@start.sh`.
 */
export function markdown(text: string): Html[] {
  const blocks = text.matchAll(/^```(.*)\n([\s\S]*?)\n```$|^.+(?:\n(?!```).+)*/gm);
  return [...blocks].flatMap(([block, head, code]) => (code === undefined ? blocksOf(block) : codeOf(head!, code)));
}

function codeOf(head: string, code: string): Html {
  const [id, title = "", languages] = head.split(" | ");
  if (!id) return html`<pre tabindex="0"><code>${code}</code></pre>`;
  const program = code.startsWith("@") ? new URL(`programs/${code.slice(1)}`, import.meta.url) : undefined;
  const text = program ? readFileSync(program, "utf8").trimEnd() : code;
  return codeBlock(id, title, text, ...((languages?.split(" ") ?? []) as Language[]));
}

/** A block can begin with a sentence and continue with a list. */
function blocksOf(block: string): Html[] {
  const lines = block.split("\n");
  const [, title, id] = /^### (.+) \{#(.+)\}$/.exec(block) ?? [];
  if (title) return [html`<h3 id="${id}">${title}</h3>`];
  if (block.startsWith("|")) return [tableOf(lines)];
  const start = lines.findIndex((line) => LIST_ITEM.test(line));
  if (start < 0) return [paragraph(block)];
  const items = lines.slice(start).map((line) => html`<li>${inline(line.replace(LIST_ITEM, ""))}</li>`);
  const list = lines[start]!.startsWith("-") ? html`<ul>${items}</ul>` : html`<ol>${items}</ol>`;
  return start === 0 ? [list] : [paragraph(lines.slice(0, start).join("\n")), list];
}

const LIST_ITEM = /^(?:-|\d+\.) /;

function paragraph(block: string): Html {
  const [, languages, text] = /^\{([a-z ]+)\} ([\s\S]+)/.exec(block) ?? [];
  return html`<p${languages && html` data-for="${languages}"`}>${inline((text ?? block).replaceAll("\n", " "))}</p>`;
}

function tableOf(lines: readonly string[]): Html {
  const [heads = [], _rule, ...rows] = lines.map((line) => line.slice(2, -2).split(" | "));
  return table(heads, rows);
}

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

/** Returns the HTML of a line with `code`, **bold**, *names* and links. */
export function inline(text: string): Html[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[^\]]+\]\([#/h][^)]*\))/).map((part) => {
    if (part.startsWith("`")) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith("**")) return html`<strong>${part.slice(2, -2)}</strong>`;
    if (part.startsWith("*")) return html`<em>${part.slice(1, -1)}</em>`;
    const [, linked, target] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? [];
    return linked ? html`<a href="${target}">${inline(linked)}</a>` : html`${part}`;
  });
}
