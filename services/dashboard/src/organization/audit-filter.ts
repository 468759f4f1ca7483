import { isId } from "@vvs/ids";
import { readFilter } from "../http/filter.ts";
import { utcTime } from "../webhooks/delivery-filter.ts";
import { isAuditAction } from "./audit-words.ts";

/** The filter of the audit log, as its form holds it; empty fields do not filter. */
export interface AuditFilter {
  /** A user id (usr_…) or "operator". */
  readonly actor: string;
  readonly action: string;
  /** Times in the format of datetime-local fields, in UTC. */
  readonly from: string;
  readonly to: string;
}

export type AuditFilterProblems = Readonly<Partial<Record<keyof AuditFilter, string>>>;

/** The actor of actions by the operator of the service, who is no user of the organization. */
export const OPERATOR = "operator";

const isRight: Readonly<Record<keyof AuditFilter, (text: string) => boolean>> = {
  actor: (text) => text === OPERATOR || isId("usr", text),
  action: isAuditAction,
  from: (text) => utcTime(text) !== undefined,
  to: (text) => utcTime(text) !== undefined,
};

const problems: Readonly<Record<keyof AuditFilter, string>> = {
  actor: "Choose one of the listed people.",
  action: "Choose one of the listed actions.",
  from: "Enter a date and a time, such as 2026-11-21T09:30.",
  to: "Enter a date and a time, such as 2026-11-21T09:30.",
};

/** Reads the filter from a query. Invalid values are left out, because they may be secrets pasted by mistake. */
export function readAuditFilter(query: Readonly<Record<string, unknown>>): {
  filter: AuditFilter;
  problems: AuditFilterProblems;
} {
  return readFilter(query, isRight, problems);
}

/** Returns a filter as query parameters; empty fields are left out. */
export function writeAuditFilter(filter: AuditFilter): Record<string, string> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}
