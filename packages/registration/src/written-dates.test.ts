import { expect, test } from "@jest/globals";
import { exactTime, longDay } from "./written-dates.ts";

test.each([
  ["2027-03-31", "31 March 2027"],
  ["2024-05-03", "3 May 2024"],
  ["indefinite", "indefinite"],
  ["2027-13-31", "2027-13-31"],
  ["2027-02-30", "2027-02-30"],
])("the day %s is shown as %s", (day, text) => {
  expect(longDay(day)).toBe(text);
});

test("a time is shown in UTC, to the second or the minute", () => {
  const at = new Date("2026-11-21T07:41:46.500Z");
  expect([exactTime(at), exactTime(at, "minute")]).toEqual(["2026-11-21 07:41:46 UTC", "2026-11-21 07:41 UTC"]);
});
