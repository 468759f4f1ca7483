import { expect, test } from "@jest/globals";
import { KeyWindow } from "./key-window.ts";

const windowAt = (...times: number[]) => {
  const window = new KeyWindow(60_000);
  for (const at of times) window.admit(at);
  return window;
};

test("the window slides: a slot is free again exactly one window after it was taken", () => {
  const window = windowAt(0, 59_000);
  expect([window.own(59_999), window.msUntilFree(2, 59_999)]).toEqual([2, 1]);
  expect([window.own(60_000), window.msUntilFree(1, 60_000)]).toEqual([1, 59_000]);
  expect(window.own(119_000)).toBe(0);
});

test("over many windows each call takes its slot for one window", () => {
  const window = windowAt();
  for (let second = 1; second <= 300; second++) {
    window.admit(second * 1_000);
    const taken = Math.min(second, 60);
    expect(window.own(second * 1_000)).toBe(taken);
    expect(window.msUntilFree(taken, second * 1_000)).toBe(60_000 - (taken - 1) * 1_000);
    expect(window.missing(second * 1_000)).toHaveLength(taken);
  }
});

test("calls of other gateways take slots for one window after they were reported", () => {
  const window = windowAt();
  const call = window.admit(1_000);
  window.report(5, 1_100, call);
  expect([window.own(1_100), window.total(1_100)]).toEqual([1, 5]);
  expect(window.total(61_000)).toBe(4);
  expect(window.total(61_100)).toBe(0);
});

test.each([
  [5, 10_000],
  [4, 20_000],
  [3, 30_000],
  [2, 30_000],
  [1, 40_000],
])("a limit of %d has a free slot again when enough calls have expired, oldest first (%d)", (limit, freed) => {
  const window = windowAt(10_000);
  const call = window.admit(20_000);
  window.report(3, 30_000, call);
  window.admit(40_000);
  expect(window.total(50_000)).toBe(5);
  expect(window.msUntilFree(limit, 50_000)).toBe(freed + 60_000 - 50_000);
});

test("a count of one means that Redis lost its data: it lacks the earlier calls", () => {
  const window = new KeyWindow(60_000);
  for (const [at, count] of [
    [1, 1],
    [2, 2],
    [3, 1],
  ] as const)
    window.report(count, at, window.admit(at));
  expect(window.missing(3).map(({ at }) => at)).toEqual([1, 2]);
  expect(window.total(3)).toBe(3);
});

test("a lower limit does not look like lost data", () => {
  const window = new KeyWindow(60_000);
  for (const count of [1, 2, 3]) window.report(count, count, window.admit(count));
  window.reportFull(2, 4);
  expect(window.missing(4)).toEqual([]);
  expect(window.total(4)).toBe(3);
});

test("an answer after the window has passed changes nothing", () => {
  const window = new KeyWindow(60_000);
  const call = window.admit(0);
  expect(window.own(60_000)).toBe(0);
  window.mark(call, "counted");
  window.report(7, 60_000, undefined);
  expect(window.total(60_000)).toBe(7);
});
