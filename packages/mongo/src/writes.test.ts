import { expect, test } from "@jest/globals";
import { deadlineAt, underDeadline, withoutDeadline } from "@vvs/deadline";
import { isOutcomeUnknown } from "@vvs/errors";
import { isDuplicateKey, translateMongoError } from "./errors.ts";
import { errorOf, mongoBehindProxy } from "./testing/mongo-behind-proxy.ts";

interface Thing {
  _id: string;
  at?: number;
}

const { proxy, client, things, stored } = await mongoBehindProxy<Thing>();
const $set = { at: 1 };

test.each<[string, () => Promise<unknown>]>([
  ["insertOne", () => things.insertOne({ _id: "one" })],
  ["insertMany", () => things.insertMany([{ _id: "two" }])],
  ["bulkWrite", () => things.bulkWrite([{ insertOne: { document: { _id: "three" } } }])],
  ["updateOne", () => things.updateOne({ _id: "four" }, { $set }, { upsert: true })],
  ["updateMany", () => things.updateMany({ _id: "five" }, { $set }, { upsert: true })],
  ["replaceOne", () => things.replaceOne({ _id: "six" }, { at: 1 }, { upsert: true })],
  ["findOneAndUpdate", () => things.findOneAndUpdate({ _id: "seven" }, { $set }, { upsert: true })],
  ["findOneAndReplace", () => things.findOneAndReplace({ _id: "eight" }, { at: 1 }, { upsert: true })],
  ["findOneAndDelete", () => things.findOneAndDelete({ _id: "kept" })],
  ["deleteOne", () => things.deleteOne({ _id: "kept" })],
  ["deleteMany", () => things.deleteMany({ _id: "kept" })],
])("no %s begins in the last second of a call", async (_name, write) => {
  await stored.deleteMany({});
  await stored.insertOne({ _id: "kept" });
  const error = await errorOf(underDeadline({ at: Date.now() + 900, writesEndAt: Date.now() - 100 }, write));
  expect(error).toMatchObject({ code: "service_unavailable" });
  expect(isOutcomeUnknown(error)).toBe(false);
  expect(await stored.distinct("_id")).toEqual(["kept"]);
});

test("a write in time, one in the background and a read at any time go through", async () => {
  const late = { at: Date.now() + 10_000, writesEndAt: Date.now() - 100 };
  await underDeadline(deadlineAt(Date.now() + 10_000), () => things.insertOne({ _id: "in time" }));
  await things.insertOne({ _id: "background" });
  await underDeadline(late, () => withoutDeadline(() => things.insertOne({ _id: "released" })));
  expect(await underDeadline(late, () => things.findOne({ _id: "in time" }))).not.toBeNull();
});

test("a write with two lost replies has an unknown outcome", async () => {
  proxy.loseReply("answers lost", "cut", 2);
  expect(isOutcomeUnknown(await errorOf(things.insertOne({ _id: "answers lost" })))).toBe(true);
});

test("a write that MongoDB gives up in time has a known outcome", async () => {
  await things.insertOne({ _id: "held" });
  await client.withSession(async (holder) => {
    holder.startTransaction();
    await things.updateOne({ _id: "held" }, { $set }, { session: holder });
    const error = await errorOf(things.updateOne({ _id: "held" }, { $set }, { maxTimeMS: 100 }));
    expect(error).toMatchObject({ code: 50 });
    expect(translateMongoError(error)).toMatchObject({ code: "service_unavailable", outcomeUnknown: false });
    await holder.abortTransaction();
  });
});

test("a refusal by MongoDB stays the same", async () => {
  await things.insertOne({ _id: "twice" });
  expect(isDuplicateKey(await errorOf(things.insertOne({ _id: "twice" })))).toBe(true);
});
