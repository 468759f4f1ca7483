import { expect, test } from "@jest/globals";
import { createQuota } from "./quota.ts";

const { signal } = new AbortController();

/** A quota with a clock that advances only by pauses. */
function quotaUnderTest() {
  const clock = { ms: 0, pauses: [] as number[] };
  const pause = async (ms: number) => {
    clock.pauses.push(ms);
    clock.ms += ms;
  };
  return { clock, quota: createQuota({ now: () => clock.ms, pause }) };
}

const limit = (remaining: number, reset: number) =>
  new Headers({ "X-RateLimit-Remaining": String(remaining), "X-RateLimit-Reset": String(reset) });

/** Has a promise settled after all microtasks? */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise<false>((resolve) => setImmediate(resolve, false));
  return Promise.race([promise.then(() => true), later]);
}

test("the other calls wait for the first answer, and start immediately if it names no limit", async () => {
  const { quota } = quotaUnderTest();
  await quota.ready(signal);
  const first = Promise.withResolvers<void>();
  void quota.track(first.promise);
  const second = quota.ready(signal);
  expect(await isSettled(second)).toBe(false);
  quota.note(new Headers());
  first.resolve();
  await second;
  for (let call = 0; call < 50; call++) {
    await quota.ready(signal);
    void quota.track(new Promise(() => {}));
  }
});

test("calls in flight count as used, and the next one starts when an answer says that it fits", async () => {
  const { quota } = quotaUnderTest();
  quota.note(limit(2, 30));
  const calls = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  for (const { promise } of calls) {
    await quota.ready(signal);
    void quota.track(promise);
  }
  const third = quota.ready(signal);
  expect(await isSettled(third)).toBe(false);
  calls[0]!.resolve();
  expect(await isSettled(third)).toBe(true);
});

test("with nothing left and nothing in flight one call waits until there is more and finds out how much", async () => {
  const { quota, clock } = quotaUnderTest();
  quota.note(limit(0, 12));
  await quota.ready(signal);
  expect(clock.pauses).toEqual([12_000]);
  const probe = Promise.withResolvers<void>();
  void quota.track(probe.promise);
  const next = quota.ready(signal);
  expect(await isSettled(next)).toBe(false);
  quota.note(limit(5, 60));
  probe.resolve();
  expect(await isSettled(next)).toBe(true);
});

test("later answers without a limit change nothing", async () => {
  const { quota, clock } = quotaUnderTest();
  quota.note(limit(0, 12));
  quota.note(new Headers({ "X-RateLimit-Remaining": "none", "X-RateLimit-Reset": "1" }));
  await quota.ready(signal);
  expect(clock.pauses).toEqual([12_000]);
});

test("aborting ends the wait", async () => {
  const aborting = new AbortController();
  const quota = createQuota({ now: () => 0 });
  quota.note(limit(0, 3_600));
  const waiting = quota.ready(aborting.signal);
  aborting.abort();
  await expect(waiting).rejects.toThrow("aborted");
});
