import { beforeEach, expect, test } from "@jest/globals";
import { hookedDb } from "@vvs/testing";
import { createDeliveryListing } from "../actions/listing.ts";
import type { Delivery } from "../model/delivery.ts";
import { createTestDeliveries, start, tenant } from "../testing/deliveries.ts";
import { reduceAged } from "./sandbox-retention.ts";
import { createDeliveryStore } from "./store.ts";

const DAY_MS = 86_400_000;
const after = (days: number) => new Date(start.getTime() + days * DAY_MS);
const store = await createTestDeliveries();
beforeEach(() => store.clear());

const reduce = (now: Date, keeping = { days: 14, newest: 10_000 }) =>
  reduceAged({ db: store.db, keeping, now, stopping: new AbortController().signal });
const found = (id: string) => createDeliveryListing({ db: store.db }).find(tenant, id);

test("a reduced delivery is no longer found, but refuses a second one when its record is read again", async () => {
  const delivery = await store.add();
  expect(await reduce(after(13))).toBe(0);
  expect(await found(delivery._id)).toMatchObject({ status: "failed" });
  expect(await reduce(after(15))).toBe(1);
  expect(await found(delivery._id)).toBeUndefined();
  const again: Delivery = { ...delivery, status: "pending", created_at: after(15) };
  expect(await createDeliveryStore({ db: store.db }).insert([again])).toEqual(new Set([delivery._id]));
  expect(await store.find(delivery._id)).toEqual({ _id: delivery._id, created_at: start });
});

test("an organization's oldest deliveries beyond its number are reduced, pending ones not", async () => {
  const added: Delivery[] = [];
  for (const days of [0, 1, 2]) added.push(await store.add({ created_at: after(days) }));
  const pending = await store.add({ status: "pending", created_at: after(-1), next_attempt_at: after(9) });
  expect(await reduce(after(4), { days: 14, newest: 2 })).toBe(1);
  const left = await Promise.all([...added, pending].map(async ({ _id }) => (await found(_id)) !== undefined));
  expect(left).toEqual([false, true, true, true]);
});

test("a delivery that is replayed while it is reduced stays", async () => {
  const delivery = await store.add();
  const replay = { $set: { status: "pending" as const } };
  const replayedFirst = hookedDb(store.db, "deliveries", "updateMany", async () => {
    await store.db.collection<Delivery>("deliveries").updateOne({ _id: delivery._id }, replay);
  });
  const options = { keeping: { days: 14, newest: 10 }, now: after(20), stopping: new AbortController().signal };
  expect(await reduceAged({ db: replayedFirst, ...options })).toBe(0);
  expect(await found(delivery._id)).toMatchObject({ status: "pending" });
});
