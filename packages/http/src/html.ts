/** HTML markup. Only `html` creates it, so every other value on a page is escaped. */
export interface Html {
  readonly markup: string;
}

type Part = Html | string | number | boolean | undefined | null | readonly Part[];

/**
 * Returns HTML with values inserted, each escaped for text and for quoted attributes. Html is inserted as it is, and
 * lists are joined. undefined, null and false insert nothing; neither does true, so that `a || html…` never prints it.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let markup = strings[0]!;
  for (const [index, value] of values.entries()) markup += render(value) + strings[index + 1];
  return { markup };
}

function render(part: Part): string {
  if (part === undefined || part === null || typeof part === "boolean") return "";
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "markup" in part ? part.markup : part.map(render).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}
