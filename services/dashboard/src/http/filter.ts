import { isId } from "@vvs/ids";

/** A field of a list's filter: the values that it accepts, and the problem shown for others. */
export interface FilterField {
  readonly accepts: (text: string) => boolean;
  readonly problem: string;
}

export const ENTITY_ID_PROBLEM = "Enter a vendor ID: ent_ followed by 26 letters and digits.";

export const entityIdField: FilterField = { accepts: (text) => isId("ent", text), problem: ENTITY_ID_PROBLEM };

/** The filter of a list, as its form holds it. */
export interface ListFilter<F extends string> {
  /** The text of each field; empty if it does not filter. */
  readonly filter: Readonly<Record<F, string>>;
  readonly problems: Readonly<Partial<Record<F, string>>>;
  /** Whether a field has a problem. */
  readonly isRefused: boolean;
  /** Whether a field filters. */
  readonly isNarrowed: boolean;
}

/**
 * Reads the filter of a list from a query. Invalid values are left out and never shown again, because they may be
 * secrets pasted by mistake; their fields get a problem instead.
 */
export function readFilter<F extends string>(
  query: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<F, FilterField>>,
): ListFilter<F> {
  const problems: Partial<Record<F, string>> = {};
  const filter = {} as Record<F, string>;
  for (const [name, { accepts, problem }] of Object.entries(fields) as [F, FilterField][]) {
    const typed = query[name];
    const text = typeof typed === "string" ? typed.trim() : "";
    const isUsable = text === "" || accepts(text);
    filter[name] = isUsable ? text : "";
    if (!isUsable) problems[name] = problem;
  }
  const isNarrowed = Object.values(filter).some((text) => text !== "");
  return { filter, problems, isRefused: Object.keys(problems).length > 0, isNarrowed };
}
