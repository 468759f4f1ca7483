import { describe, expect, test } from "@jest/globals";
import { averagePerDay, callsPlanned } from "./numbers.ts";

const now = new Date("2026-11-22T12:00:00Z");

describe("the calls planned for tomorrow", () => {
  test.each([
    ["nothing", { registered: 0, absent: 0 }, { registered: 0, absent: 0 }, 0, 0],
    ["what is left over", { registered: 1_000, absent: 250 }, { registered: 0, absent: 0 }, 0, 100 + 6],
    ["vendors that are due again", { registered: 0, absent: 0 }, { registered: 95, absent: 1 }, 0, 10 + 2],
    ["new questions as on other days", { registered: 0, absent: 0 }, { registered: 0, absent: 0 }, 41.2, 5],
  ])("are those for %s", (_name, waiting, dueAgain, newPerDay, expected) => {
    expect(callsPlanned({ waiting, dueAgain, newPerDay })).toBe(expected);
  });
});

describe("the average of new questions", () => {
  test.each<[string, Record<string, number>, string | undefined, number]>([
    [
      "is that of the last seven days, without today",
      { "2026-11-15": 70, "2026-11-21": 7, "2026-11-22": 99 },
      "2026-10-01",
      11,
    ],
    ["counts a week ago and no further", { "2026-11-14": 70 }, "2026-10-01", 0],
    ["covers only days since the first one", { "2026-11-20": 10, "2026-11-21": 20 }, "2026-11-20", 15],
    ["is today's on the first day", { "2026-11-22": 12 }, "2026-11-22", 12],
    ["is none without any day", {}, undefined, 0],
  ])("%s", (_name, days, firstDay, expected) => {
    expect(averagePerDay(new Map(Object.entries(days)), firstDay, now)).toBe(expected);
  });
});
