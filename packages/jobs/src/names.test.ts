import { expect, test } from "@jest/globals";
import { Decision, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { decisionOf, decisions, outcomeOf, rowOutcomes, toProtoDecision, toProtoOutcome } from "./index.ts";

const numbersOf = (values: object) => Object.values(values).filter((value) => typeof value === "number" && value > 0);

test("every outcome and every decision of the contract has a name, and every name has a number", () => {
  expect(rowOutcomes.map(toProtoOutcome)).toEqual(numbersOf(RowOutcome));
  expect(decisions.map(toProtoDecision)).toEqual(numbersOf(Decision));
  expect(rowOutcomes.map((name) => outcomeOf(toProtoOutcome(name)))).toEqual(rowOutcomes);
  expect(decisions.map((name) => decisionOf(toProtoDecision(name)))).toEqual(decisions);
});

test("unspecified numbers and those of a newer version have no name", () => {
  for (const value of [0, 1_000]) expect([outcomeOf(value), decisionOf(value)]).toEqual([undefined, undefined]);
});
