import { expect, test } from "@jest/globals";
import { dataFreshnessSeconds } from "./records.ts";

test.each([
  ["2026-11-01T00:00:00.000Z", 1_753_200],
  ["2026-11-21T06:59:59.001Z", 0],
  ["2026-11-21T06:59:58.999Z", 1],
  ["2026-11-21T07:00:01.000Z", 0],
])("data dated %s is %d whole seconds old at seven", (dataDate, seconds) => {
  expect(dataFreshnessSeconds(new Date("2026-11-21T07:00:00.000Z"), new Date(dataDate))).toBe(seconds);
});
