import { expect, test } from "@jest/globals";
import { deadlineAt, underDeadline } from "@vvs/deadline";
import { deadlineFor } from "./deadline.ts";

test("a call inside a handler ends shortly before the handler's own deadline, so that the innermost times out first", () => {
  const outermost = Date.now() + 10_000;
  const first = underDeadline(deadlineAt(outermost), () => deadlineFor(60_000));
  const second = underDeadline(deadlineAt(first), () => deadlineFor(60_000));
  expect([outermost - first, first - second]).toEqual([20, 20]);
});

test("a call with less time than the handler has left keeps its own deadline", () => {
  const before = Date.now();
  const deadline = underDeadline(deadlineAt(before + 10_000), () => deadlineFor(1_000));
  expect(deadline).toBeGreaterThanOrEqual(before + 1_000);
  expect(deadline).toBeLessThan(before + 10_000 - 20);
});

test("without an outer deadline a call has its own time limit, or none", () => {
  expect(deadlineFor(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
  expect(underDeadline(deadlineAt(Number.POSITIVE_INFINITY), () => deadlineFor(1_000))).toBeLessThan(
    Date.now() + 60_000,
  );
});
