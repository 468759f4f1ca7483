import type { Decision } from "@vvs/checks/decision";
import { Decision as ProtoDecision, RowOutcome as ProtoOutcome } from "@vvs/proto/verification/v1/jobs";

/** The outcomes of a row by their public names, in the order of a job's counts. All but `waiting` are final. */
export const rowOutcomes = [
  "pass",
  "fail",
  "error",
  "ambiguous",
  "not_found",
  "conflict",
  "invalid",
  "limit_exceeded",
  "waiting",
] as const;
export type RowOutcome = (typeof rowOutcomes)[number];

/** The decisions of a row by their public names. */
export const decisions = ["pay", "hold", "review"] as const satisfies Decision[];
export type { Decision };

/** Returns an outcome's number on gRPC. */
export function toProtoOutcome(outcome: RowOutcome): ProtoOutcome {
  return ProtoOutcome[outcome.toUpperCase() as Uppercase<RowOutcome>];
}

/** Returns the outcome of a number; undefined for none, or for one that only a newer version of the product knows. */
export function outcomeOf(value: ProtoOutcome): RowOutcome | undefined {
  return rowOutcomes.find((name) => toProtoOutcome(name) === value);
}

/** Returns a decision's number on gRPC. */
export function toProtoDecision(decision: Decision): ProtoDecision {
  return ProtoDecision[decision.toUpperCase() as Uppercase<Decision>];
}

/** Returns the decision of a number; undefined for none, or for one that only a newer version of the product knows. */
export function decisionOf(value: ProtoDecision): Decision | undefined {
  return decisions.find((name) => toProtoDecision(name) === value);
}
