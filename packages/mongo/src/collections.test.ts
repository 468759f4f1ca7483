import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Db, MongoClient } from "mongodb";
import { createCollections } from "./collections.ts";

let client: MongoClient;
let db: Db;

beforeAll(() => {
  client = new MongoClient(process.env.MONGODB_URI!);
  db = client.db(`t${randomUUID().slice(0, 8)}`);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

test("concurrent and repeated migrations create each collection once", async () => {
  const names = ["one", "two", "three"];
  await Promise.all([1, 2, 3, 4].map(() => createCollections(db, names)));
  await createCollections(db, [...names, "four"]);
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  expect(found.map(({ name }) => name).sort()).toEqual(["four", "one", "three", "two"]);
});
