import { expect, test } from "@jest/globals";
import { type Decision, type DecisionFacts, type Doubt, decide } from "./decision.ts";

const clear: DecisionFacts = { result: "pass", name: undefined, isExcluded: false, sameName: "none" };

test.each<[string, Partial<DecisionFacts>, Decision, Doubt[]]>([
  ["every check passed", {}, "pay", []],
  ["and the name agrees", { name: "agrees" }, "pay", []],
  ["the name is another one", { name: "differs" }, "review", ["other_name"]],
  ["there is nothing to compare the name with", { name: "unknown" }, "review", ["name_not_compared"]],
  ["some of its products are restricted", { isExcluded: true }, "review", ["exclusion"]],
  ["nobody looked at its exclusions", { isExcluded: undefined }, "review", ["exclusions_unknown"]],
  ["an exclusion without identifiers bears its name", { sameName: "found" }, "review", ["same_name"]],
  ["it is unknown whether one does", { sameName: "unknown" }, "review", ["same_name_unknown"]],
  ["a check got no answer", { result: "error" }, "review", ["no_answer"]],
  ["the registration has ended since", { hasEnded: true }, "review", ["registration_ended"]],
  [
    "several doubts",
    { result: "error", name: "differs", sameName: "found" },
    "review",
    ["no_answer", "other_name", "same_name"],
  ],
  ["a check failed", { result: "fail" }, "hold", []],
  [
    "a check failed, and there are doubts",
    { result: "fail", name: "differs", isExcluded: true },
    "hold",
    ["other_name", "exclusion"],
  ],
])("where %s, %j: %s", (_name, facts, decision, doubts) => {
  expect(decide({ ...clear, ...facts })).toEqual({ decision, doubts });
});

test("pays only where every check passed and nothing is in doubt", () => {
  for (const result of ["pass", "fail", "error"] as const)
    for (const name of ["agrees", "differs", "unknown", undefined] as const)
      for (const isExcluded of [false, true, undefined])
        for (const sameName of ["none", "found", "unknown"] as const) {
          const { decision, doubts } = decide({ result, name, isExcluded, sameName });
          const isClear =
            result === "pass" && (name === "agrees" || !name) && isExcluded === false && sameName === "none";
          expect(decision === "pay").toBe(isClear);
          expect(decision === "hold").toBe(result === "fail");
          if (decision === "pay") expect(doubts).toEqual([]);
        }
});
