import { expect, test } from "@jest/globals";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { certifiedDecision } from "./certified-decision.ts";

const { PASS, FAIL, ERROR } = CheckStatus;

test.each([
  [PASS, [], "Pay: every check passed."],
  [PASS, ["other_name"], "Review: the name differs from the registered one."],
  [ERROR, ["no_answer", "new_doubt"], "Review: a check got no answer, and new_doubt."],
  [FAIL, ["other_name"], "Hold: a check failed."],
])(
  "a verification with the result %i and the doubts %j says in words whether to pay",
  (overallResult, doubts, text) => {
    const payment = { doubts, givenName: "" } as never;
    expect(certifiedDecision({ overallResult, payment })).toBe(text);
  },
);

test("one that was stored without a decision says none", () => {
  expect(certifiedDecision({ overallResult: PASS })).toBeUndefined();
});
