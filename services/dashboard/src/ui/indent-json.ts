/** Maximum nesting depth. Indentation grows with depth: without a limit, a megabyte of JSON could become a gigabyte. */
const MAX_DEPTH = 64;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Returns a JSON text with line breaks and indentation. Everything else stays exactly as written: digits of numbers,
 * escapes, the order of keys and duplicate keys. Returns undefined if the text is not JSON, or nested too deeply.
 */
export function indentJson(text: string): string | undefined {
  if (!isJson(text)) return undefined;
  const tokens = text.match(TOKEN) ?? [];
  const opens = (index: number) => tokens[index] === "{" || tokens[index] === "[";
  const closes = (index: number) => tokens[index] === "}" || tokens[index] === "]";
  let indented = "";
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (closes(index) && !opens(index - 1)) {
      depth -= 1;
      indented += lineBreak(depth);
    }
    indented += token === ":" ? ": " : token;
    if (opens(index) && !closes(index + 1)) {
      depth += 1;
      if (depth > MAX_DEPTH) return undefined;
      indented += lineBreak(depth);
    }
    if (token === ",") indented += lineBreak(depth);
  }
  return indented;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const lineBreak = (depth: number) => `\n${"  ".repeat(depth)}`;
