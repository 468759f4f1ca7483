import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { hookedDb } from "../testing/hooked-db.ts";
import { type PlayedSubscriber, playSubscriber } from "../testing/played-subscriber.ts";
import { changeEvent, type Replica, startReplica, urlChange } from "../testing/replica.ts";
import { type TestStore, testStore } from "../testing/test-store.ts";

let store: TestStore;
let subscriber: PlayedSubscriber;
const replicas: Replica[] = [];

beforeEach(async () => {
  store = await testStore();
  subscriber = await playSubscriber();
});
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  await subscriber.close();
  await store.close();
});

const goesOn = [
  ["goes to that URL", "/new", { status: "delivered" }, ["/new"]],
  ["is not sent once the URL was removed", "", { status: "failed", failure: "no_webhook_url", attempts: [] }, []],
] as const;

test.each(goesOn)("an event that waits for a slot when its URL changes %s", async (_name, newer, expected, paths) => {
  const answers: (() => void)[] = [];
  const busy = await playSubscriber((_post, response) => void answers.push(() => void response.end()));
  const replica = startReplica(store.db);
  replicas.push(replica);
  const [first, second] = [changeEvent(busy.url("/old")), changeEvent(busy.url("/old"))];
  await replica.take(first);
  await eventually(() => answers.length === 1);
  await replica.take(second);
  await replica.take(urlChange(second, newer && subscriber.url(newer)));
  answers[0]!();
  const ended = { event_id: second.eventId, status: { $ne: "pending" } } as const;
  await eventually(async () => answers.length > 1 || (await store.deliveries.findOne(ended)));
  expect(busy.posts.map(({ eventId }) => eventId)).toEqual([first.eventId]);
  expect(await store.deliveries.findOne(ended)).toMatchObject(expected);
  expect(subscriber.posts.map(({ path }) => path)).toEqual(paths);
  await busy.close();
});

test.each([
  ["goes to that URL", "/new", { status: "delivered" }, ["/new"]],
  ["is not sent once the URL was removed", "", { status: "failed", failure: "no_webhook_url" }, []],
])(
  "an event stored by a replica that dies before it has read its monitor's newer URL %s",
  async (_name, newer, expected, paths) => {
    const event = changeEvent(subscriber.url("/old"));
    const before = startReplica(store.db);
    await before.take(urlChange(event, newer && subscriber.url(newer)));
    await before.stop();
    const dies = () => {
      throw new Error("killed");
    };
    const dying = startReplica(hookedDb(store.db, "find", dies, "monitor_urls"));
    await expect(dying.take(event)).rejects.toThrow("killed");
    await dying.stop();
    const leaseHasEnded = { $set: { next_attempt_at: new Date() } };
    expect(await store.deliveries.updateMany({ lease: { $exists: true } }, leaseHasEnded)).toMatchObject({
      matchedCount: 1,
    });
    replicas.push(startReplica(store.db));
    await eventually(() => store.deliveries.findOne({ status: { $ne: "pending" } }));
    expect(await store.deliveries.findOne()).toMatchObject(expected);
    expect(subscriber.posts.map(({ path }) => path)).toEqual(paths);
  },
);
