import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Document, isMap, isScalar, type Node, type Pair, parseDocument, type YAMLMap } from "yaml";

const chart = join(fileURLToPath(import.meta.url), "../../../../charts/vendor-verification");
const readme = join(chart, "README.md");
const BEGIN = "<!-- values: npm run chart-readme -->\n";
const END = "<!-- end of values -->";

/** Returns the chart's README as it is, and with a table of values from the comments of values.yaml. */
export function readmeWithValues(): { readonly is: string; readonly wanted: string } {
  const is = readFileSync(readme, "utf8");
  const begin = is.indexOf(BEGIN) + BEGIN.length;
  const end = is.indexOf(END);
  if (begin < BEGIN.length || end < begin) throw new Error("README.md has no place for the table of values");
  return { is, wanted: is.slice(0, begin) + valuesTable() + is.slice(end) };
}

/** Returns one row for each value: its path, default, and the comment above it that begins with `--`. */
function valuesTable(): string {
  const document = parseDocument(readFileSync(join(chart, "values.yaml"), "utf8"));
  const rows = rowsOf(document, document.contents as YAMLMap, "");
  return `| value | default | meaning |\n|---|---|---|\n${rows.join("")}`;
}

function rowsOf(document: Document, map: YAMLMap, path: string): string[] {
  return map.items.flatMap((pair, index) => {
    const key = String((pair as Pair<{ value: string }>).key?.value);
    const name = path ? `${path}.${key}` : key;
    const value = pair.value;
    const meaning = meaningOf(pair as Pair, index === 0 ? map.commentBefore : undefined);
    const within = isMap(value) && value.items.length > 0 && !DETAILS.test(name) ? rowsOf(document, value, name) : [];
    const isOne = meaning !== "" && name !== "defaults";
    return isOne || within.length === 0 ? [`| \`${name}\` | ${defaultOf(document, value)} | ${meaning} |\n`] : within;
  });
}

/** Values that the reader knows from Kubernetes. */
const DETAILS = /\.(resources|labels)$/;

function meaningOf(pair: Pair, first: string | null | undefined): string {
  const comment = (pair.key as { commentBefore?: string }).commentBefore ?? first ?? "";
  const [, text] = /-- ([\s\S]+)$/.exec(comment) ?? [];
  return (text ?? "").replaceAll(/\n */g, " ").replaceAll("|", "\\|").trim();
}

function defaultOf(document: Document, value: unknown): string {
  if (isScalar(value)) return value.value === "" ? "" : `\`${String(value.value)}\``;
  const text = JSON.stringify((value as Node).toJS(document));
  return text.length <= 2 ? "" : text.length > 60 ? "see values.yaml" : `\`${text}\``;
}

if (import.meta.main) writeFileSync(readme, readmeWithValues().wanted);
