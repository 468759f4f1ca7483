import { expect, test } from "@jest/globals";
import { countPauseMs } from "./row-rules.ts";

test.each([
  { rows: 100, tookMs: 0.5, pauseMs: 1_000 },
  { rows: 10_000, tookMs: 17, pauseMs: 1_000 },
  { rows: 100_000, tookMs: 160, pauseMs: 8_000 },
])("counting the rows of a job of $rows takes 2 % of the time at most", ({ tookMs, pauseMs }) => {
  expect(countPauseMs(tookMs)).toBe(pauseMs);
  expect(tookMs / pauseMs).toBeLessThanOrEqual(0.02);
});
