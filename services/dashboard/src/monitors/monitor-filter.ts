import { isId } from "@vvs/ids";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { readFilter } from "../http/filter.ts";

/** The filter of the list of monitors, as its form holds it; empty fields do not filter. */
export interface MonitorFilter {
  /** "canceled", or empty for active monitors. */
  readonly status: string;
  readonly outcome: string;
  readonly entity_id: string;
}

export type MonitorFilterProblems = { readonly [F in keyof MonitorFilter]?: string };

const statuses = { pass: CheckStatus.PASS, fail: CheckStatus.FAIL, error: CheckStatus.ERROR } as const;

/** The outcomes to choose from. */
export const outcomes = [...Object.keys(statuses), "unanswered"];

const problems: Readonly<Record<keyof MonitorFilter, string>> = {
  status: "Choose active or canceled.",
  outcome: "Choose pass, fail, error or unanswered.",
  entity_id: "Enter an entity ID: ent_ followed by 26 letters and digits.",
};

const isRight: Readonly<Record<keyof MonitorFilter, (text: string) => boolean>> = {
  status: (text) => text === "canceled",
  outcome: (text) => outcomes.includes(text),
  entity_id: (text) => isId("ent", text),
};

/** Reads the filter from a query. Invalid values are left out, because they may be secrets pasted by mistake. */
export function readMonitorFilter(query: Readonly<Record<string, unknown>>): {
  filter: MonitorFilter;
  problems: MonitorFilterProblems;
} {
  return readFilter(query, isRight, problems);
}

/** Returns a filter as fields of the request to the monitor service. */
export function askedOf({ status, outcome, entity_id: entityId }: MonitorFilter) {
  const lastOutcome = Object.hasOwn(statuses, outcome) ? statuses[outcome as keyof typeof statuses] : undefined;
  return { entityId, canceled: status === "canceled", lastOutcome, unanswered: outcome === "unanswered" };
}
