import { describe, expect, test } from "@jest/globals";
import { registryDay } from "@vvs/registration";
import type { MonitorDocument } from "../model/monitor.ts";
import { afterClaim, afterSkip } from "../model/next-run.ts";
import { fastClock } from "../testing/domain.ts";
import { at, fresh } from "../testing/fresh-monitor.ts";
import { afterRun as afterRunOf, type RunEnd } from "./run-end.ts";

const RUN_TIMEOUT_MS = 10_000;
const afterRun = (monitor: MonitorDocument, end: RunEnd, now = end.at) =>
  afterRunOf(monitor, end, { runTimeoutMs: RUN_TIMEOUT_MS, now });

const end = (runSeq: number, outcome: "pass" | "fail" | "error") => ({
  runSeq,
  at: at(runSeq),
  outcome,
  verificationId: `ver_${runSeq}`,
  lacksInput: false,
  lacksIdentifier: false,
  expirationDate: undefined,
  exclusionDays: undefined,
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

  test("has the monitor published once more where sam_registration has got the identifier that it lacked", () => {
    const published = { ...fresh, published_frequency: fresh.frequency };
    const lacking = { ...end(1, "fail"), lacksIdentifier: true };
    const answer = { registration: at(1) };
    const states = [
      afterRun(published, { ...end(1, "pass"), dataAsOf: answer }),
      afterRun(published, lacking),
      afterRun(afterRun(published, lacking), end(2, "error")),
      afterRun(afterRun(afterRun(published, lacking), end(2, "error")), { ...end(3, "pass"), dataAsOf: answer }),
    ];
    const { frequency } = fresh;
    expect(states.map(({ published_frequency, unwatched }) => [published_frequency, unwatched])).toEqual([
      [frequency, undefined],
      [frequency, true],
      [frequency, true],
      [undefined, undefined],
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

describe("a monitor stands", () => {
  const digest = (runSeq: number, of: string | undefined) => ({ ...end(runSeq, "pass"), digest: of });
  const next = (monitor: MonitorDocument, run: RunEnd) => afterRun({ ...monitor, run_seq: run.runSeq }, run);
  const first = next(fresh, digest(1, "aa"));
  const standing = next(first, digest(2, "aa"));

  test("once two runs in a row had a digest, since the last of them ended", () => {
    const offset_ms = (8 * 3_600 + 15) * 1_000;
    expect([first.standing, standing.standing]).toEqual([undefined, { run_seq: 2, since: at(2), offset_ms }]);
    expect(standing.last_run?.digest).toBe("aa");
    expect(next(standing, digest(3, "aa")).standing).toEqual({ run_seq: 3, since: at(3), offset_ms });
  });

  test("for one period only after a run that changed, or until an earlier extra run", () => {
    const changed = next(standing, digest(3, "bb"));
    const until = new Date(at(3).getTime() + 86_400_000);
    expect(changed.standing).toMatchObject({ run_seq: 3, offset_ms: standing.standing!.offset_ms, until });
    expect(next(changed, digest(4, "bb")).standing).not.toHaveProperty("until");
    const file_run = { load_id: "load_1", changed_at: at(1), at: at(9) };
    expect(next({ ...standing, file_run }, digest(3, "bb")).standing).toMatchObject({ until: at(9) });
  });

  test("and is swept only if no run was due when the end was stored, until its next extra run is due", () => {
    const swept = (monitor: MonitorDocument, now?: Date) =>
      afterRun({ ...monitor, run_seq: 2 }, digest(2, "aa"), now).standing;
    expect(swept(first, at(14))).toHaveProperty("offset_ms");
    expect(swept(first, at(15))).toEqual({ run_seq: 2, since: at(2) });
    expect(swept({ ...first, extras_wait: true })).toEqual({ run_seq: 2, since: at(2) });
    const file_run = { load_id: "load_1", changed_at: at(1), at: at(9) };
    expect(swept({ ...first, file_run })).toMatchObject({ until: at(9) });
    expect(swept({ ...first, file_run }, at(9))).toEqual({ run_seq: 2, since: at(2) });
  });

  test.each<[string, RunEnd]>([
    ["no digest, as of an older version", digest(3, undefined)],
    ["an error", end(3, "error")],
  ])("no longer after a run with %s, nor after the first run that follows it", (_name, run) => {
    const ended = next(standing, run);
    expect([ended.standing, next(ended, digest(4, "aa")).standing]).toEqual([undefined, undefined]);
  });

  test("no longer once its next run is claimed, nor by the end of an older one", () => {
    const options = { environment: "live", fastClock, runTimeoutMs: RUN_TIMEOUT_MS } as const;
    const claimed = afterClaim(options, standing, at(50));
    expect(claimed.standing).toBeUndefined();
    expect(afterSkip(options, standing, at(50)).standing).toBeUndefined();
    expect(afterRun({ ...first, run_seq: 3 }, digest(2, "aa")).standing).toBeUndefined();
  });

  test("never once canceled, though a run was still open", () => {
    const { next_run_at: _, claimable_at: __, ...rest } = first;
    expect(next({ ...rest, status: "canceled" }, digest(2, "bb")).standing).toBeUndefined();
  });

  test("never with tin_match", () => {
    const checks = ["sam_registration", "tin_match"] as const;
    const both = next({ ...fresh, checks }, digest(1, "aa"));
    expect(next(both, digest(2, "aa")).standing).toBeUndefined();
  });
});

const active: MonitorDocument = {
  ...fresh,
  next_run_at: new Date("2027-01-01"),
  claimable_at: new Date("2027-01-01"),
};

describe("the extra run on the first day of an exclusion", () => {
  const listing = (runSeq: number, ...exclusionDays: string[]) => ({ ...end(runSeq, "pass"), exclusionDays });
  const dayOf = ({ exclusion_run_at }: MonitorDocument) => exclusion_run_at && registryDay(exclusion_run_at);

  test("is set by the newest ended run, for the exclusion that begins next, and is then the next one", () => {
    const ended = afterRun(active, listing(1, "", "2025-05-01", "2026-07-15", "2026-06-30"));
    expect(dayOf(ended)).toBe("2026-06-30");
    expect(ended.claimable_at).toEqual(ended.exclusion_run_at);
    expect(dayOf(afterRun({ ...active, run_seq: 2 }, listing(1)))).toBeUndefined();
  });

  test("stays if a run does not learn exclusions, and is dropped when the exclusion is gone", () => {
    const ended = afterRun(active, listing(1, "2026-06-30"));
    expect(dayOf(afterRun(ended, end(2, "error")))).toBe("2026-06-30");
    const dropped = afterRun(ended, listing(2));
    expect([dayOf(dropped), dropped.claimable_at]).toEqual([undefined, active.next_run_at]);
  });

  test("is beside that of an expiration, and the earlier one comes first", () => {
    const ended = afterRun(active, { ...listing(1, "2026-07-15"), expirationDate: "2026-06-30" });
    expect([dayOf(ended), ended.claimable_at]).toEqual(["2026-07-15", ended.expiry_run_at]);
  });
});

describe("the extra run after the expiration date", () => {
  const expiring = (runSeq: number, expirationDate: string | undefined) => ({ ...end(runSeq, "pass"), expirationDate });
  const dayOf = ({ expiry_run_at }: MonitorDocument) => expiry_run_at && registryDay(expiry_run_at);

  test("is set by the newest ended run, and is then the next one", () => {
    const ended = afterRun(active, expiring(1, "2026-06-30"));
    expect(dayOf(ended)).toBe("2026-07-01");
    expect(ended.claimable_at).toEqual(ended.expiry_run_at);
    expect(ended.next_run_at).toEqual(active.next_run_at);
  });

  test("is moved by a renewal, and dropped by an expiration in the past", () => {
    const ended = afterRun(active, expiring(1, "2026-06-30"));
    expect(dayOf(afterRun(ended, expiring(2, "2027-06-30")))).toBe("2027-07-01");
    const dropped = afterRun(ended, expiring(2, "2026-01-31"));
    expect([dayOf(dropped), dropped.claimable_at]).toEqual([undefined, active.next_run_at]);
    expect(dayOf(afterRun(ended, expiring(2, "")))).toBeUndefined();
  });

  test("stays if a run does not learn the date", () => {
    const ended = afterRun(active, expiring(1, "2026-06-30"));
    expect(dayOf(afterRun(ended, end(2, "error")))).toBe("2026-07-01");
  });

  test("is not changed by an older run that ends later", () => {
    const ended = afterRun({ ...active, run_seq: 2 }, expiring(2, "2027-06-30"));
    expect(dayOf(afterRun(ended, expiring(1, "2026-06-30")))).toBe("2027-07-01");
  });

  test("waits for a newer run that is open", () => {
    const open_run = { run_seq: 2, claimed_at: new Date("2026-07-02") };
    const ended = afterRun({ ...active, run_seq: 2, open_run }, expiring(1, "2026-06-30"));
    expect(ended.claimable_at).toEqual(new Date(open_run.claimed_at.getTime() + RUN_TIMEOUT_MS));
  });
});
