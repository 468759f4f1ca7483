import { expect, test } from "@jest/globals";
import { type Benchmark, holds, judge, type Measured, reportOf, tableOf } from "./benchmark.ts";
import { closedLoop, median, openLoop, percentile } from "./load.ts";

const benchmark: Benchmark = { name: "example", about: "an example", conditions: { concurrency: 64 }, rows: [] };
const bounds = { ratio: { at_least: 0.5 }, p99_ms: { at_most: 120 } };
const figures = { ratio: 0.5, p99_ms: 120.1, other: 3 };
const measured: Measured = {
  row: "one",
  sizes: { rounds: 2 },
  conditions: { processors: 2 },
  figures,
  targets: judge(bounds, figures),
};

test("a figure on its bound holds, one beyond it is missed, and the table shows both", () => {
  const report = reportOf(benchmark, [measured]);
  expect(report).toEqual({
    bench: "example",
    conditions: { concurrency: 64, rounds: 2, processors: 2 },
    figures,
    targets: {
      ratio: { at_least: 0.5, value: 0.5, holds: true },
      p99_ms: { at_most: 120, value: 120.1, holds: false },
    },
    failures: {},
  });
  expect(holds(report)).toBe(false);
  expect(tableOf(report)).toMatch(/^ratio +0\.5 +≥ 0\.5 holds$/m);
  expect(tableOf(report)).toMatch(/^p99_ms +120\.1 +≤ 120 MISSED$/m);
});

test("a figure of NaN misses its target, and a missing figure is an error", () => {
  expect(judge(bounds, { ratio: Number.NaN, p99_ms: 1 }).ratio).toMatchObject({ holds: false });
  expect(() => judge(bounds, { ratio: 1 })).toThrow("p99_ms");
});

test("a row that failed is in the table, and nothing holds", () => {
  const report = reportOf(benchmark, [
    { row: "one", sizes: {}, conditions: {}, figures: {}, targets: {}, failure: "Kafka is unavailable" },
    {
      row: "two",
      sizes: {},
      conditions: {},
      figures: { ratio: 1 },
      targets: judge({ ratio: bounds.ratio }, { ratio: 1 }),
    },
  ]);
  expect(tableOf(report)).toMatch(/^one +FAILED +Kafka is unavailable$/m);
  expect(holds(report)).toBe(false);
});

test.each([
  [[1, 2, 3, 4], 50, 2],
  [[1, 2, 3, 4], 99, 4],
  [[7], 1, 7],
  [[], 99, Number.NaN],
])("for %j percentile %d is %d", (values, percent, value) => {
  expect(percentile(values, percent)).toBe(value);
});

test("a median does not depend on the order of the values", () => {
  expect(median([9, 1, 5])).toBe(5);
});

test("a closed loop keeps the given number of calls in flight and counts failures separately", async () => {
  let running = 0;
  let most = 0;
  let begun = 0;
  const call = async () => {
    most = Math.max(most, ++running);
    const fails = ++begun % 2 === 0;
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    if (fails) throw new Error("no answer");
  };
  const { latenciesMs, failed } = await closedLoop({ inFlight: 5, forMs: 50, call });
  expect(most).toBe(5);
  expect(failed).toBeGreaterThan(0);
  expect(latenciesMs.length + failed).toBeLessThanOrEqual(begun);
});

test("an open loop waits for the last answer", async () => {
  let answered = 0;
  const call = async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    answered++;
  };
  const { latenciesMs } = await openLoop({ perSecond: 100, forMs: 100, call });
  expect(latenciesMs).toHaveLength(answered);
  expect(answered).toBeGreaterThan(0);
});
