import { expect, test } from "@jest/globals";
import { bestThreshold, bootstrapInterval, f1Limit, qualityAt } from "./classification.ts";
import { pairsIn } from "./pair-file.ts";

test("pairs are read from quoted CSV, with columns in any order", () => {
  const text = 'is_match,name1,note,name2\r\ntrue,"Smith, ""Bud"" Inc.",x,"two\nlines"\r\n0,a,,b\r\n';
  expect(pairsIn(text)).toEqual([
    { name1: 'Smith, "Bud" Inc.', name2: "two\nlines", isMatch: true },
    { name1: "a", name2: "b", isMatch: false },
  ]);
});

test.each([
  ["name1,name2\na,b\n", "is_match"],
  ["name1,name2,is_match\na,b,maybe\n", "maybe"],
])("text without labelled pairs is refused: %j", (text, message) => {
  expect(() => pairsIn(text)).toThrow(message);
});

const scored = [
  { score: 0.9, isMatch: true },
  { score: 0.8, isMatch: true },
  { score: 0.7, isMatch: false },
  { score: 0.6, isMatch: true },
  { score: 0.1, isMatch: false },
];

test.each([
  [0.5, 3 / 4, 1],
  [0.8, 1, 2 / 3],
  [1, 0, 0],
])("at a threshold of %d precision is %d and recall %d", (threshold, precision, recall) => {
  expect(qualityAt(scored, threshold)).toMatchObject({ precision, recall });
});

test("the best threshold is the one with the highest F1", () => {
  expect(bestThreshold(scored)).toEqual({ threshold: 0.6, f1: 6 / 7 });
});

test("matches that are kept apart limit F1, others do not", () => {
  expect(f1Limit(scored, () => false)).toBe(1);
  expect(f1Limit(scored, ({ score }) => score === 0.6)).toBe(4 / 5);
  expect(f1Limit(scored, ({ isMatch }) => !isMatch)).toBe(1);
});

test("a bootstrap interval contains the measured F1 and is the same for the same seed", () => {
  const options = { threshold: 0.5, samples: 200, seed: 7 };
  const { low, high } = bootstrapInterval(scored, options);
  expect(low).toBeLessThanOrEqual(6 / 7);
  expect(high).toBeGreaterThanOrEqual(6 / 7);
  expect(bootstrapInterval(scored, options)).toEqual({ low, high });
});
