import { describe, expect, test } from "@jest/globals";
import { registryDay, startOfRegistryDay } from "@vvs/registration";
import type { MonitorDocument } from "./monitor.ts";
import { afterClaim, afterSkip, claimableAt, earliestDue, exclusionRunAt, expiryRunAt, nextRun } from "./next-run.ts";

const HOUR = 3_600_000;
const RUN_TIMEOUT_MS = 10_000;
const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 8, 0, second));
const fastClock = { lastsMs: 0, intervalsMs: { hourly: 1, daily: 1, weekly: 1, monthly: 1 } };
const options = { environment: "live", fastClock, runTimeoutMs: RUN_TIMEOUT_MS } as const;
const monitor: MonitorDocument = {
  _id: "mon_1",
  organization_id: "org_1",
  entity_id: "ent_1",
  checks: ["sam_registration"],
  frequency: "daily",
  status: "active",
  created_at: at(0),
  created_by: "key_1",
  created_as: { frequency: "daily", next_run_at: at(30) },
  run_seq: 4,
  last_due_at: at(-60),
  next_run_at: at(30),
  claimable_at: at(30),
  consecutive_errors: 0,
  event_count: 0,
};
const file = { load_id: "registry:1", changed_at: at(1) };
const fileRun = (second: number) => ({ ...file, at: at(second) });

describe("the next run is due", () => {
  const rows: [string, Partial<MonitorDocument>, unknown][] = [
    ["by the schedule", {}, { cause: "schedule", at: at(30) }],
    ["after a file", { file_run: fileRun(20) }, { cause: "file", at: at(20) }],
    [
      "after another answer of SAM.gov",
      { file_run: { ...fileRun(20), load_id: "answers:uei:ABCDEFGHJK12:2026-11-24T09:00:00.000Z" } },
      { cause: "answer", at: at(20) },
    ],
    [
      "on the day after the expiration",
      { expiry_run_at: at(10), file_run: fileRun(20) },
      { cause: "expiry", at: at(10) },
    ],
    [
      "on the first day of an exclusion",
      { exclusion_run_at: at(5), expiry_run_at: at(10), file_run: fileRun(20) },
      { cause: "exclusion", at: at(5) },
    ],
    [
      "by the schedule before both",
      { expiry_run_at: at(31), file_run: fileRun(32) },
      { cause: "schedule", at: at(30) },
    ],
    ["for the first time", { first_run_at: at(0) }, { cause: "creation", at: at(0) }],
    ["by the schedule after a file's run was claimed", { file_run: file }, { cause: "schedule", at: at(30) }],
    [
      "by the schedule while extra runs wait",
      { extras_wait: true, first_run_at: at(0), file_run: fileRun(20) },
      { cause: "schedule", at: at(30) },
    ],
    ["never, once canceled", { next_run_at: undefined, expiry_run_at: at(10), file_run: fileRun(20) }, undefined],
  ];
  test.each(rows)("%s", (_name, change, expected) => {
    expect(earliestDue({ ...monitor, ...change })).toEqual(expected);
  });
});

describe("the next run may be claimed", () => {
  const open = (second: number) => ({ open_run: { run_seq: 4, claimed_at: at(second) } });
  const rows: [string, Partial<MonitorDocument>, Date | undefined][] = [
    ["once it is due", {}, at(30)],
    ["once an extra run is due", { file_run: fileRun(20) }, at(20)],
    ["not while an open one delays it", open(25), at(35)],
    ["not while an open one delays an extra one", { ...open(15), expiry_run_at: at(20) }, at(25)],
    ["although an open one has not ended in time", open(2), at(30)],
    ["never, once canceled", { ...open(2), next_run_at: undefined, expiry_run_at: at(10) }, undefined],
  ];
  test.each(rows)("%s", (_name, change, expected) => {
    expect(claimableAt({ ...monitor, ...change }, RUN_TIMEOUT_MS)).toEqual(expected);
  });
});

describe("a claim", () => {
  test("of a run by the schedule moves the schedule, and is also the extra run of an earlier file", () => {
    const claimed = afterClaim(options, { ...monitor, file_run: fileRun(300), expiry_run_at: at(400) }, at(31));
    const open_run = { run_seq: 5, claimed_at: at(31) };
    const next = nextRun(options, { ...monitor, last_due_at: at(30), open_run, expiry_run_at: at(400) }, at(31));
    const claim = { run_seq: 5, open_run, last_due_at: at(30), expiry_run_at: at(400), file_run: file };
    expect(claimed).toEqual({ ...monitor, ...claim, ...next });
    expect(claimed.claimable_at).toEqual(at(400));
  });

  const extra: [string, Partial<MonitorDocument>][] = [
    ["after a file", { file_run: fileRun(20) }],
    ["after an expiration", { expiry_run_at: at(20) }],
    ["of an exclusion's first day", { exclusion_run_at: at(20) }],
    ["after both", { expiry_run_at: at(19), file_run: fileRun(20) }],
    ["after the creation", { first_run_at: at(0) }],
  ];
  test.each(extra)("of an extra run %s leaves the schedule as it is, and is made once", (_name, change) => {
    const claimed = afterClaim(options, { ...monitor, ...change }, at(21));
    expect(claimed).toEqual({
      ...monitor,
      ...(change.file_run && { file_run: file }),
      run_seq: 5,
      open_run: { run_seq: 5, claimed_at: at(21) },
      claimable_at: at(31),
    });
  });

  test("counts as the extra run of the file that the monitor names, even if that file's time is later", () => {
    const later = { load_id: "registry:1", changed_at: at(35) };
    const claimed = afterClaim(options, { ...monitor, file_run: { ...later, at: at(40) } }, at(31));
    expect(claimed.file_run).toEqual(later);
  });

  test("ends the waiting of extra runs", () => {
    const waiting = { ...monitor, first_run_at: at(0), extras_wait: true } as const;
    const { first_run_at, extras_wait } = afterClaim(options, waiting, at(31));
    expect([first_run_at, extras_wait]).toEqual([undefined, undefined]);
  });
});

describe("a skipped run of a suspended organization", () => {
  test("moves the schedule, starts nothing and lets the extra runs wait", () => {
    const due = { first_run_at: at(0), expiry_run_at: at(10), exclusion_run_at: at(15), file_run: fileRun(20) };
    const skipped = afterSkip(options, { ...monitor, ...due }, at(31));
    const next = nextRun(options, { ...monitor, last_due_at: at(30) }, at(31));
    expect(skipped).toEqual({ ...monitor, ...due, extras_wait: true, last_due_at: at(30), ...next });
    expect(skipped.claimable_at).toEqual(skipped.next_run_at);
  });

  test("leaves the schedule as it is if only an extra run is due", () => {
    const due = { expiry_run_at: at(10), file_run: fileRun(20) };
    expect(afterSkip(options, { ...monitor, ...due }, at(11))).toEqual({ ...monitor, ...due, extras_wait: true });
  });

  test("lets nothing wait if only the schedule is due", () => {
    expect(afterSkip(options, { ...monitor, file_run: fileRun(400) }, at(31)).extras_wait).toBeUndefined();
  });
});

describe("the extra run on the first day of an exclusion", () => {
  const rows: [name: string, days: string[], answeredAt: string, day: string | undefined][] = [
    ["is due on that day", ["2026-03-14"], "2026-03-01T08:00:00Z", "2026-03-14"],
    ["is due on the next of several", ["2026-04-01", "2026-03-14"], "2026-03-01T08:00:00Z", "2026-03-14"],
    ["is due on a leap day", ["2028-02-29"], "2028-02-28T08:00:00Z", "2028-02-29"],
    ["is due where clocks are set forward", ["2027-03-14"], "2027-03-14T04:59:00Z", "2027-03-14"],
    ["is due where clocks are set back", ["2026-11-01"], "2026-11-01T03:59:00Z", "2026-11-01"],
    ["is due if it is that day only by UTC", ["2026-03-14"], "2026-03-14T03:30:00Z", "2026-03-14"],
    ["is not needed after an answer of that day", ["2026-03-14"], "2026-03-14T08:00:00Z", undefined],
    ["is not due for one that has begun", ["", "2025-12-31"], "2026-03-01T08:00:00Z", undefined],
    ["is not due for a day that does not exist", ["2026-02-30", "03/14/2026"], "2026-01-01T08:00:00Z", undefined],
  ];
  test.each(rows)("%s", (_name, days, answeredAt, day) => {
    const due = exclusionRunAt("mon_1", days, new Date(answeredAt));
    expect(due && registryDay(due)).toBe(day);
  });
});

describe("the extra run after an expiration date", () => {
  const rows: [name: string, date: string, answeredAt: string, day: string | undefined][] = [
    ["is due on the next day", "2026-03-14", "2026-03-01T08:00:00Z", "2026-03-15"],
    ["is due in the next month", "2026-04-30", "2026-03-01T08:00:00Z", "2026-05-01"],
    ["is due in the next year", "2026-12-31", "2026-03-01T08:00:00Z", "2027-01-01"],
    ["is due on a leap day", "2028-02-28", "2026-03-01T08:00:00Z", "2028-02-29"],
    ["is due after a leap day", "2028-02-29", "2026-03-01T08:00:00Z", "2028-03-01"],
    ["is due after February of another year", "2027-02-28", "2026-03-01T08:00:00Z", "2027-03-01"],
    ["is due before clocks are set forward", "2027-03-13", "2026-03-01T08:00:00Z", "2027-03-14"],
    ["is due after clocks are set forward", "2027-03-14", "2026-03-01T08:00:00Z", "2027-03-15"],
    ["is due before clocks are set back", "2026-10-31", "2026-03-01T08:00:00Z", "2026-11-01"],
    ["is due after clocks are set back", "2026-11-01", "2026-03-01T08:00:00Z", "2026-11-02"],
    ["is due if the registration expires today", "2026-03-01", "2026-03-01T08:00:00Z", "2026-03-02"],
    ["is due if it is the next day only by UTC", "2026-03-01", "2026-03-02T01:30:00Z", "2026-03-02"],
    ["is due if the answer was stored just after midnight", "2026-03-01", "2026-03-02T05:00:59Z", "2026-03-02"],
    ["is not needed after an answer of that day", "2026-03-01", "2026-03-02T05:01:00Z", undefined],
    ["is not needed after a date in the past", "2025-12-31", "2026-03-01T08:00:00Z", undefined],
    ["is not due without a date", "", "2026-03-01T08:00:00Z", undefined],
    ["is not due after a day that does not exist", "2027-02-29", "2026-03-01T08:00:00Z", undefined],
    ["is not due after a date of another form", "03/14/2026", "2026-03-01T08:00:00Z", undefined],
  ];
  test.each(rows)("%s", (_name, date, answeredAt, day) => {
    const due = expiryRunAt("mon_1", date, new Date(answeredAt));
    expect(due && registryDay(due)).toBe(day);
    if (due) expect(due.getTime() - startOfRegistryDay(day!).getTime()).toBeLessThan(7 * HOUR);
  });

  test.each([0, -60_000, 60_000])(
    "is made once by each monitor, where the clock of the answers differs by %i ms",
    (differenceMs) => {
      for (let index = 0; index < 2_000; index++) {
        const dueAt = expiryRunAt(`mon_${index}`, "2028-02-29", at(0))!;
        const answeredAt = new Date(dueAt.getTime() + differenceMs);
        // What the answer was judged by, and whether another run follows.
        expect(registryDay(answeredAt)).toBe("2028-03-01");
        expect(expiryRunAt(`mon_${index}`, "2028-02-29", answeredAt)).toBeUndefined();
      }
    },
  );

  test("is spread over six hours by the monitor's id", () => {
    const midnight = startOfRegistryDay("2026-03-15").getTime();
    const due = (id: string) => expiryRunAt(id, "2026-03-14", at(0))!.getTime() - midnight;
    const all = Array.from({ length: 1_000 }, (_, index) => due(`mon_${index}`));
    expect(Math.min(...all)).toBeGreaterThanOrEqual(120_000);
    expect(Math.max(...all)).toBeLessThan(120_000 + 6 * HOUR);
    expect(all.filter((ms) => ms < 3 * HOUR).length).toBeGreaterThan(400);
    expect(due("mon_1")).toBe(due("mon_1"));
  });
});
