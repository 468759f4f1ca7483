import { describe, expect, test } from "@jest/globals";
import type { Environment } from "@vvs/tenant";
import { type FastClock, type Frequency, nextDueAt } from "./frequency.ts";
import { spreadMs } from "./spread.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const periods: Record<Frequency, number> = { hourly: HOUR, daily: DAY, weekly: 7 * DAY, monthly: 30 * DAY };
const frequencies = Object.keys(periods) as Frequency[];
const created = new Date("2026-03-01T08:00:00.000Z");
const fastClock: FastClock = {
  lastsMs: HOUR,
  intervalsMs: { hourly: 5 * SECOND, daily: 15 * SECOND, weekly: 60 * SECOND, monthly: 60 * SECOND },
};
const after = (ms: number) => new Date(created.getTime() + ms);
const live = { monitorId: "mon_1", environment: "live", createdAt: created, lastDueAt: created } as const;
const nextOf = (monitor: Parameters<typeof nextDueAt>[0], now: Date) => nextDueAt(monitor, now, fastClock).getTime();

describe("on the grid", () => {
  test.each(frequencies)("the second %s run is due within one period after the creation", (frequency) => {
    for (let index = 0; index < 200; index++) {
      const next = nextOf({ ...live, frequency, monitorId: `mon_${index}` }, created);
      expect(next).toBeGreaterThan(created.getTime());
      expect(next).toBeLessThanOrEqual(created.getTime() + periods[frequency]);
    }
  });

  test.each(frequencies)("the %s runs after it are due one period apart, however late each begins", (frequency) => {
    const period = periods[frequency];
    const second = nextOf({ ...live, frequency }, created);
    for (const lateMs of [0, 1, 90 * SECOND, period - 1]) {
      const lastDueAt = new Date(second);
      expect(nextOf({ ...live, frequency, lastDueAt }, new Date(second + lateMs))).toBe(second + period);
    }
  });

  test("runs missed in an outage are skipped", () => {
    const second = nextOf({ ...live, frequency: "hourly" }, created);
    const lastDueAt = new Date(second);
    expect(nextOf({ ...live, frequency: "hourly", lastDueAt }, new Date(second + 9.5 * HOUR))).toBe(second + 10 * HOUR);
  });

  test("a run is never due twice, even if the clock was set back", () => {
    const second = nextOf({ ...live, frequency: "hourly" }, created);
    const lastDueAt = new Date(second);
    expect(nextOf({ ...live, frequency: "hourly", lastDueAt }, new Date(second - 5))).toBe(second + HOUR);
  });

  test("a monitor that ran at another time before joins its grid with its next run", () => {
    const lastDueAt = after(10 * DAY);
    const next = nextOf({ ...live, frequency: "daily", lastDueAt }, lastDueAt);
    expect(next).toBe(nextOf({ ...live, frequency: "daily" }, lastDueAt));
  });

  test("the place depends on the id only, not on the creation or the day", () => {
    const places = [created, after(3 * HOUR), after(400 * DAY)].map(
      (at) => nextOf({ ...live, frequency: "daily", createdAt: at, lastDueAt: at }, at) % DAY,
    );
    expect(new Set(places)).toEqual(new Set([spreadMs("mon_1", DAY)]));
  });

  test.each([
    ["the end of a month", "2026-11-30"],
    ["the end of a year", "2026-12-31"],
    ["a leap day", "2028-02-29"],
    ["the day on which clocks are set forward in Washington", "2027-03-14"],
    ["the day on which clocks are set back in Washington", "2026-11-01"],
  ])("runs are one period apart across %s, each due once for replicas a minute apart", (_what, day) => {
    const around = Date.parse(day);
    for (const frequency of frequencies) {
      const period = periods[frequency];
      const lastDueAt = new Date(nextOf({ ...live, frequency }, new Date(around - 2 * period)));
      for (const differenceMs of [-60, 0, 60].map((seconds) => seconds * SECOND)) {
        const now = new Date(lastDueAt.getTime() + differenceMs);
        expect(nextOf({ ...live, frequency, lastDueAt }, now)).toBe(lastDueAt.getTime() + period);
      }
    }
  });

  test.each(frequencies)("ten thousand %s monitors created together are spread evenly", (frequency) => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let index = 0; index < 10_000; index++) {
      const next = nextOf({ ...live, frequency, monitorId: `mon_${index}` }, created);
      tenths[Math.min(9, Math.floor((10 * (next - created.getTime() - 1)) / periods[frequency]))]! += 1;
    }
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});

test.each(["live", "sandbox"] as const)(
  "a frequency of a newer version is refused, never due at no time: %s",
  (environment) => {
    const monitor = { ...live, environment, frequency: "quarterly" as Frequency };
    expect(() => nextDueAt(monitor, created, fastClock)).toThrow(RangeError);
  },
);

describe("on the fast clock", () => {
  const rows: [name: string, Frequency, dueMs: number, nowMs: number, expected: number][] = [
    ["the next run is due one interval after the last due time", "hourly", 10 * SECOND, 10.2 * SECOND, 15 * SECOND],
    ["also with a longer interval", "monthly", 0, 0, 60 * SECOND],
    ["up to the end of the hour", "hourly", HOUR - 5 * SECOND, HOUR - 4 * SECOND, HOUR],
    ["without a burst after an outage", "daily", 0, 100 * SECOND, 105 * SECOND],
  ];
  test.each(rows)("%s", (_name, frequency, dueMs, nowMs, expected) => {
    const monitor = { ...live, environment: "sandbox" as const, frequency, lastDueAt: after(dueMs) };
    expect(nextDueAt(monitor, after(nowMs), fastClock)).toEqual(after(expected));
  });

  const onGrid: [name: string, Environment, ageMs: number, lastsMs: number][] = [
    ["from the end of the hour on", "sandbox", HOUR, HOUR],
    ["after an outage across the hour's end", "sandbox", 3 * HOUR, HOUR],
    ["where fast intervals last no time", "sandbox", 0, 0],
    ["in the live environment", "live", 0, HOUR],
  ];
  test.each(onGrid)("runs are due on the grid %s", (_name, environment, ageMs, lastsMs) => {
    const monitor = { ...live, environment, frequency: "hourly" as const, lastDueAt: after(ageMs) };
    const next = nextDueAt(monitor, after(ageMs), { ...fastClock, lastsMs });
    expect(next.getTime() % HOUR).toBe(spreadMs("mon_1", HOUR));
  });
});
