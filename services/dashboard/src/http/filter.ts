/**
 * Reads the filter of a list from a query. Every field is text, empty if it does not filter. Invalid values are left
 * out and never shown again, because they may be secrets pasted by mistake; their fields get a problem instead.
 */
export function readFilter<F extends string>(
  query: Readonly<Record<string, unknown>>,
  isRight: Readonly<Record<F, (text: string) => boolean>>,
  problems: Readonly<Record<F, string>>,
): { filter: Record<F, string>; problems: Partial<Record<F, string>> } {
  const found: Partial<Record<F, string>> = {};
  const filter = {} as Record<F, string>;
  for (const name of Object.keys(isRight) as F[]) {
    const typed = query[name];
    const text = typeof typed === "string" ? typed.trim() : "";
    const isUsable = text === "" || isRight[name](text);
    filter[name] = isUsable ? text : "";
    if (!isUsable) found[name] = problems[name];
  }
  return { filter, problems: found };
}
