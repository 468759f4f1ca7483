import { isId } from "@vvs/ids";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { readFilter } from "./http/filter.ts";

/** What a list of monitors is narrowed to, as its form holds it; empty: does not matter. */
export interface MonitorFilter {
  /** "canceled", or empty for those that are active. */
  readonly status: string;
  readonly outcome: string;
  readonly entity_id: string;
}

export type MonitorFilterProblems = { readonly [F in keyof MonitorFilter]?: string };

export const outcomes = { pass: CheckStatus.PASS, fail: CheckStatus.FAIL, error: CheckStatus.ERROR } as const;

const problems: Readonly<Record<keyof MonitorFilter, string>> = {
  status: "A monitor is active or canceled.",
  outcome: "The last outcome is pass, fail or error.",
  entity_id: "The id of an entity is ent_ and 26 letters and digits.",
};

const isRight: Readonly<Record<keyof MonitorFilter, (text: string) => boolean>> = {
  status: (text) => text === "canceled",
  outcome: (text) => Object.hasOwn(outcomes, text),
  entity_id: (text) => isId("ent", text),
};

/** The filter that a query asks for. What is wrong is left out of it: it may be anything that was pasted by mistake. */
export function readMonitorFilter(query: Readonly<Record<string, unknown>>): {
  filter: MonitorFilter;
  problems: MonitorFilterProblems;
} {
  return readFilter(query, isRight, problems);
}

/** The part of the service's question that a filter is. */
export function askedOf({ status, outcome, entity_id: entityId }: MonitorFilter) {
  const lastOutcome = Object.hasOwn(outcomes, outcome) ? outcomes[outcome as keyof typeof outcomes] : undefined;
  return { entityId, canceled: status === "canceled", lastOutcome };
}
