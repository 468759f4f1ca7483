import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from "@jest/globals";
import { databaseClock } from "@vvs/mongo";
import { eventually } from "@vvs/testing";
import { hookedDb } from "./testing/hooked-db.ts";
import { type PlayedSubscriber, playSubscriber } from "./testing/played-subscriber.ts";
import { changeEvent, type Replica, startReplica } from "./testing/replica.ts";
import { type TestStore, testStore } from "./testing/test-store.ts";

const MINUTE_MS = 60_000;
let store: TestStore;
let subscriber: PlayedSubscriber;
const replicas: Replica[] = [];
const answers: (() => void)[] = [];
const stopping = new AbortController();

beforeAll(async () => {
  store = await testStore();
});
beforeEach(async () => {
  await store.deliveries.deleteMany({});
  answers.length = 0;
  subscriber = await playSubscriber((_post, response) => void answers.push(() => void response.end("ok")));
});
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  await subscriber.close();
});
afterAll(async () => {
  stopping.abort();
  await store.close();
});

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
  const replica = startReplica(db, { now });
  replicas.push(replica);
  return replica;
}

test.each([
  ["ahead", 0, MINUTE_MS],
  ["behind", 0, -MINUTE_MS],
  ["behind while it holds the lease", -MINUTE_MS, 0],
  ["ahead while it holds the lease", MINUTE_MS, 0],
])("a replica whose machine is a minute %s claims no delivery that is in flight", async (_name, holder, other) => {
  const event = changeEvent(subscriber.url("/hook"));
  await (await replicaOnMachine(holder)).take(event);
  await eventually(() => answers.length === 1);
  let polls = 0;
  const db = hookedDb(store.db, "find", (filter) => {
    if ((filter as { status?: string }).status === "pending") polls++;
  });
  await replicaOnMachine(other, db);
  // The third poll begins when everything that the first two found is claimed and begun.
  await eventually(() => polls >= 3);
  answers[0]!();
  await eventually(async () => (await store.deliveries.countDocuments({ status: "delivered" })) === 1);
  expect(subscriber.posts).toHaveLength(1);
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
    await dead.take(changeEvent(subscriber.url("/hook")));
    await eventually(() => answers.length === 1);
    answers.shift()!();
    await eventually(async () => (await store.deliveries.countDocuments({ status: "delivered" })) === 1);
    await dead.stop();
    const left = { status: "pending", lease: "dead", first_attempt_owed: true, attempts: [], next_attempt_at: "$$NOW" };
    await store.deliveries.updateMany({}, [{ $set: left }]);
    await replicaOnMachine(off);
    await eventually(() => answers.length === 1);
    answers[0]!();
    await eventually(async () => (await store.deliveries.countDocuments({ status: "delivered" })) === 1);
  },
);
