import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type IdPrefix, isId } from "@vvs/ids";
import { type Html, html } from "../http/html.ts";
import { inputField, option, selectField, VERBATIM } from "./fields.ts";

/** How a form shows a field: empty if it does not filter, and with the problem of a refused value, which is left out. */
export interface ShownField {
  readonly name: string;
  readonly value: string;
  readonly problem: string | undefined;
}

/** A field of a list's filter: the values that it accepts, the problem shown for others, and its input. */
export interface FilterField<Choices = unknown> {
  readonly accepts: (text: string) => boolean;
  readonly problem: string;
  readonly input: (field: ShownField, choices: Choices) => Html;
}

/** Values with their texts, or groups of them; "" does not filter. */
type Options = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** A field with one of several values. */
export function choiceField(
  label: string,
  options: Options,
  { problem = "Choose one of the options.", hintOf }: ChoiceSettings = {},
): FilterField {
  const values = Object.entries(options).flatMap(([value, text]) =>
    typeof text === "string" ? value : Object.keys(text),
  );
  return {
    accepts: (text) => values.includes(text),
    problem,
    input: (field) => choiceInput(field, label, options, hintOf?.(field.value)),
  };
}

interface ChoiceSettings {
  readonly problem?: string;
  readonly hintOf?: (value: string) => string | undefined;
}

/** A field with one of several values that the page reads; the chosen one is always among them. */
export function offeredField<Choices>(
  label: string,
  field: Omit<FilterField, "input"> & { readonly offer: (choices: Choices, value: string) => Options },
): FilterField<Choices> {
  const { offer, ...rest } = field;
  return {
    ...rest,
    input(shown, choices) {
      const options = offer(choices, shown.value);
      const { value } = shown;
      return choiceInput(shown, label, value in options ? options : { ...options, [value]: value }, undefined);
    },
  };
}

function choiceInput(field: ShownField, label: string, options: Options, hint: string | undefined): Html {
  const optionOf = ([value, text]: readonly [string, string]) => option(value, field.value, text);
  const shown = Object.entries(options).map(([value, text]) =>
    typeof text === "string"
      ? optionOf([value, text])
      : html`<optgroup label="${value}">${Object.entries(text).map(optionOf)}</optgroup>`,
  );
  return selectField({ ...field, label, options: shown, hint });
}

/** A field that is typed. */
export function typedField(
  label: string,
  field: Omit<FilterField, "input"> & { readonly attributes: Html },
): FilterField {
  return { ...field, input: (shown) => inputField({ ...shown, label, attributes: field.attributes }) };
}

const things = { ent: "a vendor", evt: "an event", mon: "a monitor" } as const;

/** A field for the id of a vendor, an event or a monitor. */
export function idField(prefix: keyof typeof things): FilterField {
  const [, thing = ""] = things[prefix].split(" ");
  return typedField(`${thing[0]!.toUpperCase()}${thing.slice(1)} ID`, {
    accepts: (text) => isId(prefix satisfies IdPrefix, text),
    problem: idProblem(prefix),
    attributes: html` type="text" maxlength="2048"${VERBATIM} placeholder="${prefix}_…"`,
  });
}

/** What is said about something else than an id. */
const idProblem = (prefix: keyof typeof things): string =>
  `Enter ${things[prefix]} ID: ${prefix}_ followed by 26 letters and digits.`;

/** A field for a time in the format of datetime-local fields, in UTC. */
export function timeField(label: string): FilterField {
  return typedField(label, {
    accepts: (text) => utcTime(text) !== undefined,
    problem: "Enter a date and a time, such as 2026-11-21T09:30.",
    attributes: html` type="datetime-local" maxlength="2048"${VERBATIM}`,
  });
}

/** The fields of a period of time. */
export const periodFields = { from: timeField("From (UTC)"), to: timeField("Before (UTC)") };

/** Parses the value of a datetime-local field as UTC; undefined if it is malformed. */
export function utcTime(text: string): Timestamp | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/.test(text)) return undefined;
  const at = new Date(`${text}Z`);
  // Date accepts February 30 and turns it into another day.
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text.slice(0, 10)) return undefined;
  return timestampFromDate(at);
}

/** Formats a time as a datetime-local field expects it, to the minute, in UTC. */
export const localTime = (at: Date): string => at.toISOString().slice(0, 16);

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
  fields: Readonly<Record<F, Pick<FilterField, "accepts" | "problem">>>,
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

/**
 * Renders the form of a filter. A script applies what is chosen or typed; its button is for browsers without scripts. In
 * narrow windows the form stays closed until it is opened or filters.
 */
export function filterForm<F extends string, Choices>(options: {
  /** Of the list. */
  readonly path: string;
  /** What the list is of. */
  readonly noun: string;
  readonly read: ListFilter<F>;
  readonly fields: Readonly<Record<F, FilterField<Choices>>>;
  readonly choices: Choices;
}): Html | undefined {
  const { path, noun, read, fields, choices } = options;
  if (Object.keys(fields).length === 0) return undefined;
  const { filter, problems, isNarrowed, isRefused } = read;
  const isUsed = isNarrowed || isRefused;
  return html`<details class="filter-box wide-open"${isUsed && html` open`}><summary class="button quiet">Filter</summary>
<form method="get" action="${path}" class="filters" role="search" aria-label="Filter ${noun}" data-applied>
  ${(Object.keys(fields) as F[]).map((name) => fields[name].input({ name, value: filter[name], problem: problems[name] }, choices))}
  <button class="quiet">Filter</button>
  ${isUsed && html`<a class="unprinted" href="${path}">Show all ${noun}</a>`}
</form>
</details>`;
}
