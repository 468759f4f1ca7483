import { describe, expect, test } from "@jest/globals";
import { addDays, isDay, registryDay, startOfRegistryDay, startOfUtcDay, utcDay } from "./days.ts";

/** First and last moment of a day in Washington. */
const days: [name: string, day: string, begins: string, ends: string][] = [
  ["in winter", "2026-11-24", "2026-11-24T05:00:00.000Z", "2026-11-25T04:59:59.999Z"],
  ["in summer", "2026-07-31", "2026-07-31T04:00:00.000Z", "2026-08-01T03:59:59.999Z"],
  ["on which clocks are set back", "2026-11-01", "2026-11-01T04:00:00.000Z", "2026-11-02T04:59:59.999Z"],
  ["on which clocks are set forward", "2027-03-14", "2027-03-14T05:00:00.000Z", "2027-03-15T03:59:59.999Z"],
  ["before a leap day", "2028-02-28", "2028-02-28T05:00:00.000Z", "2028-02-29T04:59:59.999Z"],
  ["that is a leap day", "2028-02-29", "2028-02-29T05:00:00.000Z", "2028-03-01T04:59:59.999Z"],
  ["at the end of a year", "2026-12-31", "2026-12-31T05:00:00.000Z", "2027-01-01T04:59:59.999Z"],
];

describe("a registry's day lasts from midnight to midnight in Washington", () => {
  test.each(days)("%s", (_name, day, begins, ends) => {
    expect(startOfRegistryDay(day)).toEqual(new Date(begins));
    expect(registryDay(new Date(begins))).toBe(day);
    expect(registryDay(new Date(ends))).toBe(day);
    expect(registryDay(new Date(Date.parse(begins) - 1))).toBe(addDays(day, -1));
    expect(startOfRegistryDay(addDays(day, 1))).toEqual(new Date(Date.parse(ends) + 1));
  });
});

test("a UTC day lasts from midnight to midnight in UTC", () => {
  expect(utcDay(new Date("2026-11-24T23:59:59.999Z"))).toBe("2026-11-24");
  expect(utcDay(new Date("2026-11-25T00:00:00.000Z"))).toBe("2026-11-25");
  for (const time of ["00:00:00.000", "23:59:59.999"])
    expect(startOfUtcDay(new Date(`2026-11-24T${time}Z`))).toEqual(new Date("2026-11-24T00:00:00Z"));
});

test.each([
  ["2028-02-29", true],
  ["2026-12-31", true],
  ["2026-02-29", false],
  ["2026-02-30", false],
  ["2026-13-01", false],
  ["2026-11", false],
  ["2026-1-1", false],
  ["11/21/2026", false],
  ["2026-11-21T10:00:00Z", false],
  ["", false],
  [["2026-11-21"], false],
  [undefined, false],
])("%j is a day of the calendar: %j", (text, expected) => {
  expect(isDay(text)).toBe(expected);
});

test("days are added by the calendar", () => {
  expect(addDays("2028-02-28", 1)).toBe("2028-02-29");
  expect(addDays("2028-02-28", 2)).toBe("2028-03-01");
  expect(addDays("2026-11-01", 366)).toBe("2027-11-02");
  expect(addDays("2027-03-01", -1)).toBe("2027-02-28");
});

test("a time that is none has no day", () => {
  registryDay(new Date("2026-11-24T12:00:00Z"));
  expect(() => registryDay(new Date(Number.NaN))).toThrow(RangeError);
});
