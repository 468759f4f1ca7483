import { expect, test } from "@jest/globals";
import { captureLogs } from "@vvs/testing";
import { backoffMs, superviseLoop, within } from "./index.ts";

const FOREVER_MS = 1_000_000;

/** A loop whose rounds wait until the test ends them. */
function loopUnderTest(failedMs = 0) {
  const stopping = new AbortController();
  const logs = captureLogs();
  const started: PromiseWithResolvers<number | "done">[] = [];
  let waiting = Promise.withResolvers<PromiseWithResolvers<number | "done">>();
  const loop = superviseLoop({
    round() {
      const round = Promise.withResolvers<number | "done">();
      started.push(round);
      waiting.resolve(round);
      waiting = Promise.withResolvers();
      return round.promise;
    },
    failure: "work fails; retrying",
    recovery: "work succeeds again",
    backoff: { firstMs: failedMs, longestMs: failedMs },
    stopping: stopping.signal,
    logger: logs.logger,
  });
  return { loop, started, lines: logs.lines, next: () => waiting.promise, stop: () => stopping.abort() };
}

test.each([
  [1, 0, 50],
  [1, 1, 100],
  [2, 1, 200],
  [4, 0.5, 600],
  [5, 1, 1_000],
  [2_000, 1, 1_000],
])("after %p failures and a random number of %p the wait is %p ms", (failures, random, wanted) => {
  expect(backoffMs(failures, { firstMs: 100, longestMs: 1_000 }, () => random)).toBe(wanted);
});

test("work that takes too long is an error, and work that fails throws its own", async () => {
  await expect(within(5, "too late", new Promise(() => undefined))).rejects.toThrow("too late");
  expect(await within(FOREVER_MS, "too late", Promise.resolve("done"))).toBe("done");
  await expect(within(FOREVER_MS, "too late", Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("a loop logs the first failure in a row and the recovery, and nothing between", async () => {
  const { started, lines, next, stop, loop } = loopUnderTest();
  for (const fault of ["first", "second"]) {
    const following = next();
    started.at(-1)!.reject(new Error(fault));
    await following;
  }
  const following = next();
  started.at(-1)!.resolve(0);
  await following;
  expect(lines.map(({ msg }) => msg)).toEqual(["work fails; retrying", "work succeeds again"]);
  expect(lines[0]).toMatchObject({ err: { message: "first" } });
  stop();
  started.at(-1)!.resolve(0);
  await loop.ended();
});

test("a nudge during a round starts the next one without a pause", async () => {
  const { started, next, stop, loop } = loopUnderTest();
  const following = next();
  loop.nudge();
  started[0]!.resolve(FOREVER_MS);
  await following;
  stop();
  started[1]!.resolve(FOREVER_MS);
  await loop.ended();
});

test("a nudge ends the pause between rounds", async () => {
  const { started, next, stop, loop } = loopUnderTest();
  const following = next();
  started[0]!.resolve(FOREVER_MS);
  await new Promise((resolve) => setImmediate(resolve));
  loop.nudge();
  await following;
  stop();
  started[1]!.resolve(FOREVER_MS);
  await loop.ended();
});

test("a stopped loop ends its round and starts no more", async () => {
  const { started, stop, loop } = loopUnderTest();
  stop();
  started[0]!.resolve(0);
  await loop.ended();
  expect(started).toHaveLength(1);
});

test("a nudge does not shorten the wait after a failure", async () => {
  const { started, stop, loop } = loopUnderTest(FOREVER_MS);
  loop.nudge();
  started[0]!.reject(new Error("fault"));
  await new Promise((resolve) => setImmediate(resolve));
  loop.nudge();
  await new Promise((resolve) => setImmediate(resolve));
  expect(started).toHaveLength(1);
  stop();
  await loop.ended();
});

test("a loop whose round is done starts no more, even after a nudge during that round", async () => {
  const { started, loop } = loopUnderTest();
  loop.nudge();
  started[0]!.resolve("done");
  await loop.ended();
  loop.nudge();
  expect(started).toHaveLength(1);
});
