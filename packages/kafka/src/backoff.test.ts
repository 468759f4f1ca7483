import { expect, test } from "@jest/globals";
import { backoffMs, pause, within } from "./backoff.ts";

test.each([
  [1, 200],
  [2, 400],
  [5, 3_200],
  [8, 25_600],
  [9, 30_000],
  [10_000, 30_000],
])("after failure %i in a row the wait is at most %i ms, and at least half of it", (failures, longest) => {
  expect(backoffMs(failures, () => 1)).toBe(longest);
  expect(backoffMs(failures, () => 0)).toBe(longest / 2);
});

test("a wait ends early when its signal is aborted", async () => {
  await pause(60_000, AbortSignal.abort());
});

test("a promise that takes too long comes to undefined, one that fails is told", async () => {
  expect(await within(5, new Promise(() => undefined))).toBeUndefined();
  expect(await within(60_000, Promise.resolve("done"))).toBe("done");
  await expect(within(60_000, Promise.reject(new Error("no")))).rejects.toThrow("no");
});
