import { expect, test } from "@jest/globals";
import { BURST, PER_MINUTE, withinAllowance } from "./allowance.ts";

const at = new Date("2026-03-01T12:00:00.000Z");
const after = (minutes: number) => new Date(at.getTime() + minutes * 60_000);
const requests = (count: number, status = 200) => Array.from({ length: count }, () => ({ status }));

test.each([
  ["an organization without an allowance can log a burst", undefined, 0, 200, BURST - BURST / 10],
  ["answers leave a tenth for errors", { left: BURST / 10, at }, 0, 200, 0],
  ["refusals of calls over the limit leave a half for others", undefined, 0, 429, BURST / 2],
  ["errors use up everything", undefined, 0, 500, BURST],
  ["a used-up allowance logs nothing", { left: 0.9, at }, 0, 404, 0],
  ["an allowance fills up with time", { left: 0, at }, 2, 503, 2 * PER_MINUTE],
  ["an allowance is never more than full", { left: BURST, at }, 60 * 24, 503, BURST],
  ["a clock that is behind takes nothing away", { left: 5, at: after(1) }, 0, 400, 5],
])("%s", (_name, before, minutes, status, expected) => {
  expect(withinAllowance(before, requests(BURST + 5, status), after(minutes)).kept).toHaveLength(expected);
});

test("a minute is counted once, even if the replicas' clocks differ", () => {
  let allowance = { left: 0, at };
  for (const minute of [1, 0, 1]) ({ allowance } = withinAllowance(allowance, [], after(minute)));
  expect(allowance).toEqual({ left: PER_MINUTE, at: after(1) });
});

test("an error is logged after more answers than fit, and the order is kept", () => {
  const before = { left: BURST / 10 + 1, at };
  const { kept, allowance } = withinAllowance(before, [...requests(3), ...requests(1, 500), ...requests(1)], at);
  expect(kept.map(({ status }) => status)).toEqual([200, 500]);
  expect(allowance.left).toBe(BURST / 10 - 1);
});
