import { expect, test } from "@jest/globals";
import { judge, type Outcome } from "./judgement.ts";

const outcome = (cat: string, right: boolean[], confidences: number[], isPresent = true): Outcome => ({
  cat,
  isPresent,
  right,
  confidences,
});

test("a right answer counts as first if it is the first or ties with the first", () => {
  const figures = judge([
    outcome("exact", [true], [0.9]),
    outcome("exact", [false, true], [0.9, 0.9]),
    outcome("exact", [false, true], [0.9, 0.8]),
    outcome("exact", [], []),
    outcome("drop", [true], [0.7]),
  ]);
  expect(figures).toMatchObject({ first_exact: 0.5, first_drop: 1, first_mean: 0.75, first_least: 0.5 });
  expect(figures).toMatchObject({ among_ten_exact: 0.75, among_ten_mean: 0.875, plain_sure_and_right: 0.5 });
});

test("for absent names, the share without a sure answer is counted", () => {
  const absent = [[], [0.79], [0.8], [0.99]].map((confidences) =>
    outcome(
      "absent",
      confidences.map(() => false),
      confidences,
      false,
    ),
  );
  const replaced = [outcome("replaced", [false], [0.9], false), outcome("exact", [true], [0.9])];
  expect(judge(absent)).toMatchObject({ absent_not_sure: 0.5 });
  expect(judge([...absent, ...replaced])).toMatchObject({
    absent_not_sure: 0.4,
    not_sure_absent: 0.5,
    not_sure_replaced: 0,
  });
});

test("the calibration error is the gap between confidence and the share of right answers, weighted by count", () => {
  const sure = Array.from({ length: 8 }, (_, index) => outcome("exact", [index < 6], [0.95]));
  const unsure = Array.from({ length: 2 }, () => outcome("exact", [true], [0.65]));
  expect(judge([...sure, ...unsure]).calibration_error).toBeCloseTo((0.2 * 8 + 0.35 * 2) / 10);
});
