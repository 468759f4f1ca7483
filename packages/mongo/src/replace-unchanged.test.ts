import { expect, test } from "@jest/globals";
import { testMongo } from "@vvs/testing";
import { replaceUnchanged } from "./replace-unchanged.ts";

interface Named {
  readonly _id: string;
  readonly name: string;
  readonly at?: Date;
}

const { newDb } = await testMongo();

test("documents are replaced only while they are as they were read", async () => {
  const collection = newDb().collection<Named>("named");
  const read: Named[] = ["a", "b", "c"].map((_id) => ({ _id, name: `$${_id}`, at: new Date(0) }));
  await collection.insertMany([...read]);
  const changes = (some: readonly Named[]) =>
    some.map((before) => ({ before, after: { _id: before._id, name: `$next ${before._id}` } }));
  await collection.updateOne({ _id: "b" }, { $set: { name: "another's" } });
  expect(await replaceUnchanged(collection, changes(read.slice(0, 2)))).toBe(false);
  expect(await collection.find().sort({ _id: 1 }).toArray()).toEqual([
    { _id: "a", name: "$next a" },
    { ...read[1], name: "another's" },
    read[2],
  ]);
  expect(await replaceUnchanged(collection, changes(read.slice(2)))).toBe(true);
  expect(await replaceUnchanged(collection, changes([{ _id: "gone", name: "" }]))).toBe(false);
  expect(await replaceUnchanged(collection, [])).toBe(true);
});
