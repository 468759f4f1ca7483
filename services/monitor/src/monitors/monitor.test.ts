import { describe, expect, test } from "@jest/globals";
import { afterRun, asCreated, claimableAt, type MonitorDocument } from "./monitor.ts";

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 8, 0, second));
const createdAs = { frequency: "daily", webhook_url: "https://example.com/hook", next_run_at: at(15) } as const;
const fresh: MonitorDocument = {
  _id: "mon_1",
  organization_id: "org_1",
  entity_id: "ent_1",
  checks: ["sam_registration"],
  status: "active",
  created_at: at(0),
  created_by: "key_1",
  created_as: createdAs,
  ...createdAs,
  run_seq: 1,
  last_due_at: at(0),
  claimable_at: at(40),
  open_run: { run_seq: 1, claimed_at: at(0) },
  consecutive_errors: 0,
  event_count: 0,
};
const end = (runSeq: number, outcome: "pass" | "fail" | "error") => ({
  runSeq,
  at: at(runSeq),
  outcome,
  verificationId: `ver_${runSeq}`,
  lacksInput: false,
});

describe("the end of a run", () => {
  test("stores its outcome and frees the next one", () => {
    const { open_run: _, ...rest } = fresh;
    expect(afterRun(fresh, end(1, "pass"))).toEqual({
      ...rest,
      claimable_at: at(15),
      last_run: { run_seq: 1, at: at(1), outcome: "pass", verification_id: "ver_1" },
    });
  });

  test("counts consecutive errors, and any answer resets the count", () => {
    const counts = (["error", "error", "fail", "error", "pass"] as const).reduce(
      ({ monitor, seen }, outcome, index) => {
        const next = afterRun(monitor, end(index + 1, outcome));
        return { monitor: next, seen: [...seen, next.consecutive_errors] };
      },
      { monitor: fresh, seen: [] as number[] },
    );
    expect(counts.seen).toEqual([1, 2, 0, 1, 0]);
  });

  test("stores since when runs fail and whether input is missing, until there is an answer", () => {
    const once = afterRun(fresh, end(1, "error"));
    const twice = afterRun(once, { ...end(2, "error"), lacksInput: true });
    const answered = afterRun(twice, end(3, "fail"));
    expect([once, twice, answered].map(({ erring }) => erring)).toEqual([
      { since: at(1), lacks_input: false },
      { since: at(1), lacks_input: true },
      undefined,
    ]);
  });

  test("of an older run changes neither the last run nor the count, and leaves the open one open", () => {
    const monitor = { ...afterRun(fresh, end(3, "error")), run_seq: 4, open_run: { run_seq: 4, claimed_at: at(3) } };
    expect(afterRun(monitor, end(2, "pass"))).toEqual(monitor);
  });

  test("of a run that another one followed is still stored", () => {
    const monitor: MonitorDocument = { ...fresh, run_seq: 2, open_run: { run_seq: 2, claimed_at: at(30) } };
    const ended = afterRun(monitor, end(1, "fail"));
    expect([ended.last_run?.run_seq, ended.open_run]).toEqual([1, monitor.open_run]);
  });

  test("schedules nothing for a canceled monitor", () => {
    const { next_run_at: _, claimable_at: __, ...rest } = fresh;
    const ended = afterRun({ ...rest, status: "canceled" }, end(1, "pass"));
    expect([ended.next_run_at, ended.claimable_at, ended.last_run?.outcome]).toEqual([undefined, undefined, "pass"]);
  });
});

describe("the next run may be claimed", () => {
  test("once it is due", () => {
    expect(claimableAt(at(15), undefined, 10_000)).toEqual(at(15));
  });
  test("and not before an open one times out", () => {
    expect(claimableAt(at(15), { run_seq: 1, claimed_at: at(12) }, 10_000)).toEqual(at(22));
  });
  test("but an open one that has timed out does not delay it", () => {
    expect(claimableAt(at(15), { run_seq: 1, claimed_at: at(2) }, 10_000)).toEqual(at(15));
  });
});

test("a repeated creation gets the answer of the first", () => {
  const later: MonitorDocument = {
    ...afterRun(fresh, end(1, "error")),
    status: "canceled",
    canceled_at: at(50),
    frequency: "weekly",
    webhook_url: "https://example.com/other",
    next_run_at: undefined,
  };
  expect(asCreated(later)).toMatchObject({ ...createdAs, status: "active", consecutive_errors: 0 });
  expect(asCreated(later).last_run).toBeUndefined();
});
