import { afterEach, expect, jest, test } from "@jest/globals";
import { atEnd, eventually, testMongo } from "@vvs/testing";
import type { MongoClient } from "mongodb";
import { databaseClock, offsetOf } from "./clock.ts";

const MINUTE_MS = 60_000;
const mongo = await testMongo();
const stopping = new AbortController();
const { signal } = stopping;
afterEach(() => void jest.useRealTimers());
atEnd(() => stopping.abort());

/** Sets the machine's clock; timers and the monotonic clock stay real. */
function setMachineClock(now: number): void {
  const real = ["hrtime", "nextTick", "performance", "queueMicrotask", "setImmediate", "clearImmediate"] as const;
  const timers = ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] as const;
  jest.useFakeTimers({ doNotFake: [...real, ...timers], now });
}

test.each([MINUTE_MS, -MINUTE_MS])(
  "the time is the database's even if the machine's clock is %p ms off",
  async (off) => {
    setMachineClock(Date.now() + off);
    const now = await databaseClock({ client: mongo.client, stopping: signal });
    const before = now().getTime();
    const [found] = await mongo.client
      .db("admin")
      .aggregate([{ $documents: [{}] }, { $set: { at: "$$NOW" } }])
      .toArray();
    const after = now().getTime();
    // The clock may be off by half of its own round trip.
    expect(found!.at.getTime()).toBeGreaterThan(before - 2_000);
    expect(found!.at.getTime()).toBeLessThan(after + 2_000);
  },
);

test("a change of the machine's clock does not change the time", async () => {
  const now = await databaseClock({ client: mongo.client, stopping: signal });
  const before = now().getTime();
  setMachineClock(Date.now() + MINUTE_MS);
  expect(now().getTime() - before).toBeLessThan(MINUTE_MS / 2);
});

test("a change of the database's clock is followed, and an unavailable database leaves the time as it was", async () => {
  let answer: () => Promise<object> = async () => ({ localTime: new Date(0) });
  let asked = 0;
  const command = () => {
    asked++;
    return answer();
  };
  const client = { db: () => ({ command }) } as unknown as MongoClient;
  const now = await databaseClock({ client, stopping: signal, everyMs: 5 });
  expect(now().getTime()).toBeLessThan(MINUTE_MS);
  answer = async () => ({ localTime: new Date(10 * MINUTE_MS) });
  await eventually(() => now().getTime() >= 10 * MINUTE_MS);
  answer = () => Promise.reject(new Error("unavailable"));
  asked = 0;
  await eventually(() => asked > 2);
  expect(now().getTime()).toBeGreaterThanOrEqual(10 * MINUTE_MS);
});

test("of several readings the one with the shortest round trip counts", () => {
  const slow = { askedAt: 0, serverAt: 5_000, answeredAt: 2_000 };
  const quick = { askedAt: 2_000, serverAt: 7_005, answeredAt: 2_010 };
  expect(offsetOf([slow, quick, { ...slow, serverAt: 9_000 }])).toBe(5_000);
});
