import { afterAll, afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { databaseClock } from "@vvs/mongo";
import { eventually, hookedDb } from "@vvs/testing";
import { deliveryTest } from "./testing/delivery-test.ts";
import type { PlayedSubscriber } from "./testing/played-subscriber.ts";
import { changeEvent } from "./testing/replica.ts";

const MINUTE_MS = 60_000;
const { store, subscriber, replica, delivered } = await deliveryTest();
const answers: (() => void)[] = [];
const stopping = new AbortController();
let played: PlayedSubscriber;

beforeEach(async () => {
  answers.length = 0;
  played = await subscriber((_post, response) => void answers.push(() => void response.end("ok")));
});
afterEach(() => void jest.useRealTimers());
afterAll(() => stopping.abort());

/** Starts a replica like main.ts does, on a machine with a clock that is wrong by `offMs`. */
async function replicaOnMachine(offMs: number, db = store.db) {
  jest.useRealTimers();
  const timers = [
    "setInterval",
    "clearInterval",
    "setTimeout",
    "clearTimeout",
    "setImmediate",
    "clearImmediate",
  ] as const;
  jest.useFakeTimers({
    doNotFake: [...timers, "hrtime", "nextTick", "performance", "queueMicrotask"],
    now: Date.now() + offMs,
  });
  const now = await databaseClock({ client: store.db.client, stopping: stopping.signal });
  return replica({ now }, db);
}

test.each([
  ["ahead", 0, MINUTE_MS],
  ["behind", 0, -MINUTE_MS],
  ["behind while it holds the lease", -MINUTE_MS, 0],
  ["ahead while it holds the lease", MINUTE_MS, 0],
])("a replica whose machine is a minute %s claims no delivery that is in flight", async (_name, holder, other) => {
  const event = changeEvent(played.url("/hook"));
  await (await replicaOnMachine(holder)).take(event);
  await eventually(() => answers.length === 1);
  let polls = 0;
  const db = hookedDb(store.db, "deliveries", "find", (filter) => {
    if ((filter as { status?: string }).status === "pending") polls++;
  });
  await replicaOnMachine(other, db);
  // The third poll begins when everything that the first two found is claimed and begun.
  await eventually(() => polls >= 3);
  answers[0]!();
  await delivered(1);
  expect(played.posts).toHaveLength(1);
  const [kept] = await store.deliveries.find().toArray();
  expect(kept!.attempts).toHaveLength(1);
});

test.each([
  ["ahead", MINUTE_MS],
  ["behind", -MINUTE_MS],
])(
  "a replica whose machine is a minute %s sends what a dead replica had leased as soon as the lease has ended",
  async (_name, off) => {
    const dead = await replicaOnMachine(0);
    await dead.take(changeEvent(played.url("/hook")));
    await eventually(() => answers.length === 1);
    answers.shift()!();
    await delivered(1);
    await dead.stop();
    const left = { status: "pending", lease: "dead", first_attempt_owed: true, attempts: [], next_attempt_at: "$$NOW" };
    await store.deliveries.updateMany({}, [{ $set: left }]);
    await replicaOnMachine(off);
    await eventually(() => answers.length === 1);
    answers[0]!();
    await delivered(1);
  },
);
