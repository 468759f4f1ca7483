import { expect, test } from "@jest/globals";
import { heldUntil, isUrgent } from "./hold.ts";

const due = new Date("2026-11-21T09:00:00.000Z");
const after = (seconds: number) => new Date(due.getTime() + seconds * 1000);

test.each([
  [0, 240, false],
  [100, 240, false],
  [239.5, 240.5, false],
  [240, 241, true],
  [400, 401, true],
])("%f s after it was due, an attempt may be held until %f s after it was due; urgent: %j", (at, until, urgent) => {
  expect(heldUntil(due, after(at))).toEqual(after(until));
  expect(isUrgent(due, after(at))).toBe(urgent);
});
