import { isId } from "@vvs/ids";
import { isAuditAction } from "./audit-words.ts";
import { utcTime } from "./delivery-filter.ts";
import { readFilter } from "./http/filter.ts";

/** What the audit log is narrowed to, as its form holds it; empty: does not matter. */
export interface AuditFilter {
  /** usr_…, or operator. */
  readonly actor: string;
  readonly action: string;
  /** As datetime-local fields write times; here they are UTC. */
  readonly from: string;
  readonly to: string;
}

export type AuditFilterProblems = Readonly<Partial<Record<keyof AuditFilter, string>>>;

/** Who keeps the service, where somebody without a user of the organization acts. */
export const OPERATOR = "operator";

const isRight: Readonly<Record<keyof AuditFilter, (text: string) => boolean>> = {
  actor: (text) => text === OPERATOR || isId("usr", text),
  action: isAuditAction,
  from: (text) => utcTime(text) !== undefined,
  to: (text) => utcTime(text) !== undefined,
};

const problems: Readonly<Record<keyof AuditFilter, string>> = {
  actor: "Choose one of the people.",
  action: "Choose one of the actions.",
  from: "The time is a date and a time of day, such as 2026-11-21T09:30.",
  to: "The time is a date and a time of day, such as 2026-11-21T09:30.",
};

/** The filter that a query asks for. What is wrong is left out of it: it may be anything that was pasted by mistake. */
export function readAuditFilter(query: Readonly<Record<string, unknown>>): {
  filter: AuditFilter;
  problems: AuditFilterProblems;
} {
  return readFilter(query, isRight, problems);
}

/** A filter as part of a link; what does not matter is left out. */
export function writeAuditFilter(filter: AuditFilter): Record<string, string> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}
