import { describe, expect, test } from "@jest/globals";
import { type Frequency, frequencies, periodsMs } from "../model/frequency.ts";
import type { MonitorDocument } from "../model/monitor.ts";
import {
  advanced,
  isBehind,
  nextSlice,
  restarted,
  type SweepPosition,
  startPosition,
  withinOnePeriod,
} from "../model/position.ts";
import { fresh } from "../testing/fresh-monitor.ts";
import { scheduledChecks, withoutStanding } from "./standing.ts";

const HOUR = 3_600_000;
const start = Date.UTC(2026, 2, 1, 8);
const after = (ms: number) => new Date(start + ms);
const RUN_TIMEOUT_MS = 10_000;

/** A monitor that stands since its second run, whose next check is due at a time. */
function standingFrom(next_run_at: Date, frequency: Frequency = "hourly"): MonitorDocument {
  const { open_run: _, ...idle } = fresh;
  const data_as_of = { registration: after(-30 * 24 * HOUR), exclusions: after(-24 * HOUR) };
  const last_run = {
    run_seq: 2,
    at: after(0),
    outcome: "pass",
    verification_id: "ver_2",
    digest: "aa",
    data_as_of,
  } as const;
  const standing = { run_seq: 2, since: after(0), offset_ms: next_run_at.getTime() % periodsMs[frequency] };
  return { ...idle, frequency, run_seq: 2, next_run_at, claimable_at: next_run_at, last_run, standing };
}

const swept = (to: Date, change: Partial<SweepPosition> = {}): SweepPosition => ({
  ...startPosition("hourly", after(0)),
  ...{ swept_to: to, confirmed_to: to, ...change },
});

describe("a standing monitor shows", () => {
  const monitor = standingFrom(after(20_000));

  test("how often scheduled checks confirmed its last run, the last one, and the next", () => {
    expect(scheduledChecks(monitor, swept(after(19_999)))).toEqual({ nextAt: after(20_000) });
    const { data_as_of } = monitor.last_run!;
    expect(scheduledChecks(monitor, swept(after(20_000 + 2 * HOUR)))).toEqual({
      nextAt: after(20_000 + 3 * HOUR),
      confirmed: { times: 3, last_at: after(20_000 + 2 * HOUR), data_as_of },
    });
  });

  test("no check that was skipped, as in an outage", () => {
    const skipped = [{ after: after(HOUR), to: after(5 * HOUR) }];
    expect(scheduledChecks(monitor, swept(after(5 * HOUR), { skipped })).confirmed).toMatchObject({
      ...{ times: 1, last_at: after(20_000) },
    });
    expect(scheduledChecks(monitor, swept(after(6 * HOUR), { skipped })).confirmed).toMatchObject({
      ...{ times: 2, last_at: after(5 * HOUR + 20_000) },
    });
  });

  test("since when nothing is confirmed, and when the next check is due nevertheless", () => {
    const position = swept(after(4 * HOUR), { confirmed_to: after(HOUR) });
    expect(scheduledChecks(monitor, position)).toMatchObject({
      ...{ nextAt: after(20_000 + 4 * HOUR), staleSince: after(20_000 + HOUR) },
      confirmed: { times: 1, last_at: after(20_000) },
    });
    expect(scheduledChecks(standingFrom(after(30 * HOUR)), position)).toEqual({ nextAt: after(30 * HOUR) });
  });

  test("the dates of the data at its last check, not at a later one of others; of each part the newest", () => {
    const { registration } = monitor.last_run!.data_as_of!;
    const data = [
      { after: after(0), registration: after(-60 * 24 * HOUR), exclusions: after(0) },
      { after: after(30_000), registration: after(HOUR), exclusions: after(HOUR) },
    ];
    const shown = (to: number) => scheduledChecks(monitor, swept(after(to), { data })).confirmed?.data_as_of;
    expect(shown(40_000)).toEqual({ registration, exclusions: after(0) });
    expect(shown(HOUR + 20_000)).toEqual({ registration: after(HOUR), exclusions: after(HOUR) });
  });

  test("after it no longer stands, what it showed before", () => {
    const position = swept(after(2 * HOUR));
    const ended = withoutStanding(monitor, position, RUN_TIMEOUT_MS);
    expect(ended).not.toHaveProperty("standing");
    expect(ended).toMatchObject({ next_run_at: after(20_000 + 2 * HOUR), claimable_at: after(20_000 + 2 * HOUR) });
    expect(scheduledChecks(ended, swept(after(9 * HOUR)))).toEqual(scheduledChecks(monitor, position));
  });
});

/** Returns pseudorandom numbers from 0 to below 1 that depend only on the seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

test("what is shown follows from the position as if each check had been noted, in 150 histories", () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = numbers(seed);
    const frequency = frequencies[Math.floor(random() * 4)]!;
    const periodMs = periodsMs[frequency];
    const monitors = Array.from({ length: 5 }, () =>
      standingFrom(after(Math.floor(random() * 2 * periodMs)), frequency),
    );
    const noted = monitors.map(() => ({ confirmed: [] as number[], made: 0, stale: [] as number[] }));
    let position = startPosition(frequency, after(0));
    let clock = start;
    for (let step = 0; step < 30; step++) {
      clock += Math.floor(random() * (random() < 0.1 ? 4 * periodMs : periodMs / 2)) + 1;
      const isOverdue = random() < 0.3;
      const until = new Date(clock);
      if (isBehind(position) && !isOverdue) position = restarted(position);
      position = withinOnePeriod(position, until);
      const made = new Set<number>();
      while (position.swept_to < until) {
        const slice = nextSlice(position, until);
        const to = random() < 0.3 ? slice.from + Math.floor(random() * (slice.to - slice.from + 1)) : slice.to;
        const canConfirm = !isOverdue && !isBehind(position);
        monitors.forEach(({ standing, next_run_at }, index) => {
          const place = standing!.offset_ms!;
          const at = slice.startsAt + place;
          if (place < slice.from || place > to || at < next_run_at!.getTime()) return;
          expect(made.has(index)).toBe(false); // once, however long nothing was swept
          made.add(index);
          if (canConfirm) noted[index]!.confirmed.push(at);
          if (canConfirm) noted[index]!.stale = [];
          else noted[index]!.stale.push(at);
        });
        position = advanced(position, new Date(slice.startsAt + to), { isOverdue, dataAsOf: undefined });
      }
      monitors.forEach((monitor, index) => {
        const { confirmed, staleSince, nextAt } = scheduledChecks(monitor, position);
        const of = noted[index]!;
        expect([seed, confirmed?.times ?? 0, confirmed?.last_at.getTime()]).toEqual([
          ...[seed, of.confirmed.length, of.confirmed.at(-1)],
        ]);
        expect(nextAt!.getTime()).toBeGreaterThan(clock);
        expect(nextAt!.getTime() <= clock + periodMs || nextAt!.getTime() === monitor.next_run_at!.getTime()).toBe(
          true,
        );
        if (of.stale.length > 0) expect(staleSince!.getTime()).toBeLessThanOrEqual(of.stale[0]!);
        else if (!isBehind(position)) expect(staleSince).toBeUndefined();
      });
    }
  }
});
