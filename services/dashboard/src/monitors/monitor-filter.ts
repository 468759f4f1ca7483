import { CheckStatus } from "@vvs/proto/common/v1/common";
import { entityIdField, type ListFilter, readFilter } from "../http/filter.ts";

const statuses = { pass: CheckStatus.PASS, fail: CheckStatus.FAIL, error: CheckStatus.ERROR } as const;

/** The outcomes to choose from. */
export const outcomes = [...Object.keys(statuses), "unanswered"];

const fields = {
  /** Empty for active monitors. */
  status: { accepts: (text: string) => text === "canceled", problem: "Choose active or canceled." },
  outcome: {
    accepts: (text: string) => outcomes.includes(text),
    problem: "Choose pass, fail, error or unanswered.",
  },
  entity_id: entityIdField,
};

export type MonitorFilter = ListFilter<keyof typeof fields>;

export const readMonitorFilter = (query: Readonly<Record<string, unknown>>): MonitorFilter => readFilter(query, fields);

/** Returns a filter as fields of the request to the monitor service. */
export function requestOf({ status, outcome, entity_id: entityId }: MonitorFilter["filter"]) {
  const lastOutcome = Object.hasOwn(statuses, outcome) ? statuses[outcome as keyof typeof statuses] : undefined;
  return { entityId, canceled: status === "canceled", lastOutcome, unanswered: outcome === "unanswered" };
}
