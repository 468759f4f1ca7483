import { describe, expect, test } from "@jest/globals";
import { bounds, lastMonth, readPeriod, thisMonth } from "./screening-period.ts";

const now = new Date("2026-03-01T00:30:00Z");

describe("months", () => {
  test("are whole months of the UTC calendar", () => {
    expect(lastMonth(now)).toEqual({ from: "2026-02-01", to: "2026-02-28" });
    expect(lastMonth(new Date("2026-01-31T23:59:59Z"))).toEqual({ from: "2025-12-01", to: "2025-12-31" });
    expect(thisMonth(now)).toEqual({ from: "2026-03-01", to: "2026-03-01" });
  });
});

describe("a period", () => {
  test("is last month where none is given", () => {
    expect(readPeriod({}, now)).toEqual({ period: lastMonth(now) });
  });

  test("includes its last day", () => {
    const { period } = readPeriod({ from: "2026-02-28", to: "2026-02-28" }, now);
    expect(bounds(period)).toEqual({ start: new Date("2026-02-28T00:00:00Z"), end: new Date("2026-03-01T00:00:00Z") });
  });

  test.each([
    [{ from: "2026-02-30", to: "2026-03-01" }, "Enter two dates."],
    [{ from: "2026-02-01" }, "Enter two dates."],
    [{ from: ["2026-02-01"], to: "2026-02-02" }, "Enter two dates."],
    [{ from: "2026-02-02", to: "2026-02-01" }, "The last day must not be before the first day."],
    [{ from: "2025-01-01", to: "2026-02-01" }, "A report covers at most 366 days."],
    [{ from: "2025-01-01", to: "2026-01-01" }, undefined],
  ])("%j: %s", (query, problem) => {
    expect(readPeriod(query, now).problem).toBe(problem);
  });
});
