/** Number of fields in a row of the public extract V2, including the end-of-record mark `!end`. */
export const fieldCount = 142;

/**
 * Splits a row at its pipes. Text wrapped in NUL characters may contain pipes, as in some 300 of 900,000 real rows. Fields
 * are not trimmed; a blank one can be a space. Returns undefined if a quote is not closed.
 */
export function splitFields(text: string): string[] | undefined {
  if (!text.includes("\0")) return text.split("|");
  const fields: string[] = [];
  let field = "";
  let quoted = false;
  for (const character of text) {
    if (character === "\0") quoted = !quoted;
    else if (character === "|" && !quoted) {
      fields.push(field);
      field = "";
    } else field += character;
  }
  fields.push(field);
  return quoted ? undefined : fields;
}
