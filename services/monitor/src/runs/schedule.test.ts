import { describe, expect, test } from "@jest/globals";
import type { Environment } from "@vvs/tenant";
import { type FastClock, type Frequency, intervalMs, nextDueAt } from "./schedule.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const created = new Date("2026-03-01T08:00:00.000Z");
const fastClock: FastClock = {
  lastsMs: HOUR,
  intervalsMs: { hourly: 5 * SECOND, daily: 15 * SECOND, weekly: 60 * SECOND, monthly: 60 * SECOND },
};
const after = (ms: number) => new Date(created.getTime() + ms);

describe("the interval between runs", () => {
  const rows: [Environment, Frequency, ageMs: number, expected: number][] = [
    ["live", "hourly", 0, HOUR],
    ["live", "daily", 0, DAY],
    ["live", "weekly", 0, 7 * DAY],
    ["live", "monthly", 0, 30 * DAY],
    ["sandbox", "hourly", 0, 5 * SECOND],
    ["sandbox", "daily", 0, 15 * SECOND],
    ["sandbox", "weekly", 0, 60 * SECOND],
    ["sandbox", "monthly", 0, 60 * SECOND],
    ["sandbox", "hourly", HOUR - 1, 5 * SECOND],
    ["sandbox", "hourly", HOUR, HOUR],
    ["sandbox", "daily", HOUR, DAY],
    ["sandbox", "weekly", HOUR, 7 * DAY],
    ["sandbox", "monthly", 2 * HOUR, 30 * DAY],
  ];
  test.each(rows)("%s, %s, %i ms old: %i ms", (environment, frequency, ageMs, expected) => {
    expect(intervalMs({ environment, frequency, createdAt: created }, after(ageMs), fastClock)).toBe(expected);
  });

  test("fast intervals that last no time never apply", () => {
    const monitor = { environment: "sandbox", frequency: "hourly", createdAt: created } as const;
    expect(intervalMs(monitor, created, { ...fastClock, lastsMs: 0 })).toBe(HOUR);
  });
});

describe("the next run is due", () => {
  const rows: [name: string, Environment, Frequency, dueMs: number, nowMs: number, expected: number][] = [
    ["one interval after a run that began in time", "live", "daily", 0, 0, DAY],
    ["without the lateness of the last one", "live", "daily", DAY, DAY + 90 * SECOND, 2 * DAY],
    ["after now, when the last one began one interval late", "live", "hourly", HOUR, 2 * HOUR, 3 * HOUR],
    ["after now, without a burst after an outage", "live", "hourly", HOUR, 10.5 * HOUR, 11 * HOUR],
    ["on the fast clock", "sandbox", "hourly", 10 * SECOND, 10.2 * SECOND, 15 * SECOND],
    ["on the fast clock up to the hour's end", "sandbox", "hourly", HOUR - 5 * SECOND, HOUR - 4 * SECOND, HOUR],
    ["on the real clock from there on", "sandbox", "hourly", HOUR, HOUR + 1, 2 * HOUR],
    ["on the real clock after an outage across the hour", "sandbox", "hourly", HOUR / 2, 3 * HOUR, 3.5 * HOUR],
    ["one interval after a due time that is still to come", "live", "hourly", HOUR, HOUR - 5, 2 * HOUR],
  ];
  test.each(rows)("%s", (_name, environment, frequency, dueMs, nowMs, expected) => {
    const monitor = { environment, frequency, createdAt: created, lastDueAt: after(dueMs) };
    expect(nextDueAt(monitor, after(nowMs), fastClock)).toEqual(after(expected));
  });
});
