import { expect, test } from "@jest/globals";
import { testMongo } from "@vvs/testing";
import { createCollections } from "./collections.ts";

const { db } = await testMongo();

test("concurrent and repeated migrations create each collection once", async () => {
  const names = ["one", "two", "three"];
  await Promise.all([1, 2, 3, 4].map(() => createCollections(db, names)));
  await createCollections(db, [...names, "four"]);
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  expect(found.map(({ name }) => name).sort()).toEqual(["four", "one", "three", "two"]);
});
