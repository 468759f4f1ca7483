/** Maximum nesting depth. Indentation grows with depth: without a limit, a megabyte of JSON could become a gigabyte. */
const MAX_DEPTH = 64;

/**
 * Returns a JSON text with line breaks and indentation. Everything else stays exactly as written: digits of numbers,
 * escapes, the order of keys and duplicate keys. Returns undefined if the text is not JSON, or nested too deeply.
 */
export function indentJson(text: string): string | undefined {
  if (!isJson(text)) return undefined;
  const parts: string[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const character = text[at]!;
    const end = tokenEnd(text, at);
    if (character === "{" || character === "[") {
      const close = nextToken(text, end);
      if (text[close] === "}" || text[close] === "]") {
        parts.push(character, text[close]!);
        at = close + 1;
        continue;
      }
      depth += 1;
      if (depth > MAX_DEPTH) return undefined;
      parts.push(character, lineBreak(depth));
    } else if (character === "}" || character === "]") {
      depth -= 1;
      parts.push(lineBreak(depth), character);
    } else if (character === ",") parts.push(character, lineBreak(depth));
    else if (character === ":") parts.push(": ");
    else if (!isSpace(character)) parts.push(text.slice(at, end));
    at = end;
  }
  return parts.join("");
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
const isSpace = (character: string) => " \t\n\r".includes(character);

function nextToken(text: string, from: number): number {
  let at = from;
  while (isSpace(text[at]!)) at += 1;
  return at;
}

/** Returns the end of the token that begins at `start`; the text must be valid JSON. */
function tokenEnd(text: string, start: number): number {
  let at = start + 1;
  if (text[start] === '"') {
    while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    return at + 1;
  }
  if ("{}[],: \t\n\r".includes(text[start]!)) return at;
  while (at < text.length && !'{}[],:" \t\n\r'.includes(text[at]!)) at += 1;
  return at;
}
