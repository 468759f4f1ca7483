import { expect, test } from "@jest/globals";
import { eventually, hookedDb } from "@vvs/testing";
import { deliveryTest } from "../testing/delivery-test.ts";
import { changeEvent, urlChange } from "../testing/replica.ts";

const { store, subscriber, replica } = await deliveryTest();

const goesOn = [
  ["goes to that URL", "/new", { status: "delivered" }, ["/new"]],
  ["is not sent once the URL was removed", "", { status: "failed", failure: "no_webhook_url", attempts: [] }, []],
] as const;

test.each(goesOn)("an event that waits for a slot when its URL changes %s", async (_name, newer, expected, paths) => {
  const answers: (() => void)[] = [];
  const busy = await subscriber((_post, response) => void answers.push(() => void response.end()));
  const { url, posts } = await subscriber();
  const { take } = replica();
  const [first, second] = [changeEvent(busy.url("/old")), changeEvent(busy.url("/old"))];
  await take(first);
  await eventually(() => answers.length === 1);
  await take(second);
  await take(urlChange(second, newer && url(newer)));
  answers[0]!();
  const ended = { event_id: second.eventId, status: { $ne: "pending" } } as const;
  await eventually(async () => answers.length > 1 || (await store.deliveries.findOne(ended)));
  expect(busy.posts.map(({ eventId }) => eventId)).toEqual([first.eventId]);
  expect(await store.deliveries.findOne(ended)).toMatchObject(expected);
  expect(posts.map(({ path }) => path)).toEqual(paths);
});

test.each([
  ["goes to that URL", "/new", { status: "delivered" }, ["/new"]],
  ["is not sent once the URL was removed", "", { status: "failed", failure: "no_webhook_url" }, []],
])(
  "an event stored by a replica that dies before it has read its monitor's newer URL %s",
  async (_name, newer, expected, paths) => {
    const { url, posts } = await subscriber();
    const event = changeEvent(url("/old"));
    const before = replica();
    await before.take(urlChange(event, newer && url(newer)));
    await before.stop();
    const dies = () => {
      throw new Error("killed");
    };
    const dying = replica({}, hookedDb(store.db, "monitor_urls", "find", dies));
    await expect(dying.take(event)).rejects.toThrow("killed");
    await dying.stop();
    const leaseHasEnded = { $set: { next_attempt_at: new Date() } };
    expect(await store.deliveries.updateMany({ lease: { $exists: true } }, leaseHasEnded)).toMatchObject({
      matchedCount: 1,
    });
    replica();
    await eventually(() => store.deliveries.findOne({ status: { $ne: "pending" } }));
    expect(await store.deliveries.findOne()).toMatchObject(expected);
    expect(posts.map(({ path }) => path)).toEqual(paths);
  },
);
