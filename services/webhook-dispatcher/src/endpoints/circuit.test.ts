import { describe, expect, test } from "@jest/globals";
import type { AttemptError } from "../model/delivery.ts";
import { isFree, mayProbe, newEndpoint, type Observation, observe, probing, rampSecond } from "./circuit.ts";
import type { Endpoint } from "./endpoint.ts";

const start = new Date("2026-11-21T09:00:00.000Z");
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const unknown = newEndpoint({ _id: "e", organization_id: "org_1", url: "https://subscriber.example/hook" }, start);

const attempt = (at: number, error?: AttemptError, more: Partial<Observation> = {}): Observation => ({
  startedAt: later(at),
  endedAt: later(at),
  error,
  statusCode: error === undefined ? 200 : undefined,
  probe: false,
  ...more,
});
const after = (endpoint: Endpoint, ...seen: Observation[]) => seen.reduce(observe, endpoint);
const failures = (count: number, error: AttemptError) => Array.from({ length: count }, () => attempt(0, error));
const open = after(unknown, ...failures(5, "http_status"));

describe("an endpoint's circuit", () => {
  test.each<[AttemptError, number, string]>([
    ["http_status", 4, "closed"],
    ["http_status", 5, "open"],
    ["connection", 5, "open"],
    ["timeout", 1, "closed"],
    ["timeout", 2, "open"],
  ])("after %s %i times in a row is %s", (error, count, state) => {
    expect(after(unknown, ...failures(count, error)).circuit.state).toBe(state);
  });

  test("counts only failures in a row", () => {
    const mixed = after(unknown, ...failures(4, "http_status"), attempt(1), ...failures(4, "http_status"));
    expect(mixed).toMatchObject({ consecutive_failures: 4, circuit: { state: "closed" } });
  });

  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [5, 16],
    [6, 30],
    [60, 30],
  ])("after %i timeouts of probes pauses for %i s", (probes, seconds) => {
    const hanging = after(unknown, ...failures(2, "timeout"));
    const rest = Array.from({ length: probes - 1 }, () => attempt(0, "timeout", { probe: true }));
    expect(after(hanging, ...rest).circuit).toMatchObject({ state: "open", probe_at: later(seconds) });
  });

  test.each([
    [1, 0.25],
    [30, 0.25],
    [120, 1],
    [1_200, 10],
    [86_400, 30],
  ])("that has failed fast for %i s pauses for %f s, so that retries keep to their schedule", (since, seconds) => {
    const refused = after(open, attempt(since, "http_status", { probe: true }));
    expect(refused.circuit).toMatchObject({ state: "open", probe_at: later(since + seconds) });
  });

  test("does not pause longer because of failures other than of the probe", () => {
    expect(after(open, ...failures(50, "timeout")).circuit).toEqual(open.circuit);
  });

  test("pauses again after a test event as its probe failed", () => {
    const refused = after(open, attempt(1_200, "http_status", { probe: true, test: true }));
    expect(refused).toEqual({ ...open, circuit: { state: "open", probe_at: later(1_210), failed_probes: 2 } });
  });

  test("allows one probe at a time", () => {
    expect(mayProbe(open.circuit, later(0.2))).toBe(false);
    expect(mayProbe(open.circuit, later(0.25))).toBe(true);
    const probed = probing(open, later(26));
    expect(mayProbe(probed.circuit, later(25))).toBe(false);
    expect(mayProbe(probed.circuit, later(26))).toBe(true);
  });
});

describe("an endpoint that answers again", () => {
  const recovering = after(open, attempt(1));

  test.each([
    [1, 1],
    [1.9, 1],
    [2, 2],
    [3, 4],
    [4, 8],
    [10, 512],
  ])("at second %f gets %i attempts in that second", (at, attempts) => {
    expect(rampSecond(recovering.circuit, later(at))?.attempts).toBe(attempts);
    expect(isFree(recovering.circuit, later(at))).toBe(false);
  });

  test("gets everything after ten seconds, and its circuit is closed by the next success", () => {
    expect(isFree(recovering.circuit, later(11))).toBe(true);
    expect(after(recovering, attempt(11)).circuit).toEqual({ state: "closed" });
  });

  test("goes back one step for a failure, and its circuit opens after three in a row", () => {
    const once = after(recovering, attempt(4, "http_status"));
    expect(rampSecond(once.circuit, later(4))?.attempts).toBe(4);
    const thrice = after(once, attempt(4.1, "http_status"), attempt(4.2, "http_status"));
    expect(thrice.circuit).toMatchObject({ state: "open", failed_probes: 1 });
  });

  test("is not affected by attempts that began before", () => {
    const old = attempt(0.5, "timeout", { endedAt: later(4) });
    expect(after(recovering, old, old, old).circuit).toEqual(recovering.circuit);
  });
});

describe("what users see of an endpoint", () => {
  test("is since when it has failed, why, and whether it answered 410", () => {
    const gone = after(unknown, attempt(1, "timeout"), attempt(2, "http_status", { statusCode: 410 }));
    expect(gone).toMatchObject({
      failing_since: later(1),
      consecutive_failures: 2,
      last_failure_at: later(2),
      last_error: "http_status",
      last_status_code: 410,
      gone_at: later(2),
    });
    expect(after(gone, attempt(3))).toMatchObject({
      // What was last answered wrongly stays known after the recovery.
      last_failure_at: later(2),
      last_error: "http_status",
      last_status_code: 410,
      failing_since: null,
      consecutive_failures: 0,
      gone_at: null,
      last_success_at: later(3),
    });
  });

  test.each<[string, Partial<Observation>]>([
    ["a wrong path", { statusCode: 404 }],
    ["an endpoint that is gone", { statusCode: 410 }],
  ])("is not changed by test events to %s", (_name, answer) => {
    const test = attempt(1, "http_status", { ...answer, test: true });
    expect(after(unknown, test, test, test, test, test, test)).toBe(unknown);
    const well = after(unknown, attempt(0));
    expect(after(well, test)).toBe(well);
  });

  test("ends its failures with a test event that is delivered", () => {
    expect(after(open, attempt(1, undefined, { test: true, probe: true }))).toMatchObject({ failing_since: null });
  });

  test("is dismissed until it answers well", () => {
    const dismissed = { ...after(unknown, attempt(1, "timeout")), dismissed_at: later(2) };
    expect(after(dismissed, attempt(3, "timeout"))).toMatchObject({ dismissed_at: later(2) });
    expect(after(dismissed, attempt(3))).toMatchObject({ dismissed_at: null });
  });

  test("is updated once a minute while it answers well", () => {
    const well = after(unknown, attempt(1));
    expect(observe(well, attempt(30))).toBe(well);
    expect(observe(well, attempt(61)).last_success_at).toEqual(later(61));
  });
});
