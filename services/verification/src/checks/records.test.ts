import { expect, test } from "@jest/globals";
import type { CheckStatus } from "@vvs/checks";
import { dataFreshnessSeconds, overallResult } from "./records.ts";

test.each<[CheckStatus[], CheckStatus]>([
  [["pass"], "pass"],
  [["pass", "pass"], "pass"],
  [["pass", "error"], "error"],
  [["error", "fail"], "fail"],
  [["fail", "pass"], "fail"],
])("the overall result of %j is %s", (statuses, overall) => {
  expect(overallResult(statuses)).toBe(overall);
});

test.each([
  ["2026-11-01T00:00:00.000Z", 1_753_200],
  ["2026-11-21T06:59:59.001Z", 0],
  ["2026-11-21T06:59:58.999Z", 1],
  ["2026-11-21T07:00:01.000Z", 0],
])("data dated %s is %d whole seconds old at seven", (dataDate, seconds) => {
  expect(dataFreshnessSeconds(new Date("2026-11-21T07:00:00.000Z"), new Date(dataDate))).toBe(seconds);
});
