/**
 * What a list is narrowed to by a query, every field as text, empty where it does not matter. What is wrong is left out
 * of it, and named: it may be anything that was pasted by mistake.
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
