import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { MongoClient, MongoServerError } from "mongodb";
import { inTransaction } from "./client.ts";
import { isDuplicateKey, translateMongoError } from "./errors.ts";
import { type TestMongo, testMongo } from "./testing.ts";

const uri = process.env.MONGODB_URI!;
let mongo: TestMongo;
beforeAll(async () => {
  mongo = await testMongo(uri);
  await mongo.db.createCollection("people");
  await mongo.db.collection("people").createIndex({ organization_id: 1, email: 1 }, { unique: true });
});
afterAll(() => mongo.close());

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test("a server that can't be reached is service_unavailable, with the cause kept inside", async () => {
  const client = new MongoClient("mongodb://127.0.0.1:1/", { serverSelectionTimeoutMS: 100 });
  const error = await errorOf(client.db("x").collection("y").findOne({}));
  const refusal = translateMongoError(error);
  expect(refusal).toMatchObject({ code: "service_unavailable", retryAfterSeconds: 5 });
  expect(refusal.cause).toBe(error);
  expect(refusal.message).not.toContain("127.0.0.1");
  await client.close();
});

test("a pool without a free connection is service_unavailable", async () => {
  const client = await new MongoClient(uri, { maxPoolSize: 1, waitQueueTimeoutMS: 50 }).connect();
  const db = client.db(mongo.db.databaseName);
  await db.collection("people").insertOne({ organization_id: "org_0", email: "slow" });
  const slow = db.collection("people").findOne({ $where: "sleep(1000) || true" });
  const error = await errorOf(db.collection("people").findOne({}));
  expect(translateMongoError(error)).toMatchObject({ code: "service_unavailable" });
  await slow;
  await client.close();
});

test("a transaction that another disturbs is service_unavailable", async () => {
  const people = mongo.db.collection<{ _id: string; value?: number }>("people");
  await people.insertOne({ _id: "disturbed" });
  const error = await inTransaction(mongo.client, async (session) => {
    await people.updateOne({ _id: "disturbed" }, { $set: { value: 1 } }, { session });
    return mongo.client.withSession((other) => {
      other.startTransaction();
      return errorOf(people.updateOne({ _id: "disturbed" }, { $set: { value: 2 } }, { session: other }));
    });
  });
  expect(translateMongoError(error)).toMatchObject({ code: "service_unavailable" });
});

test.each([10_107, 13_435, 189, 11_600, 11_602, 91])(
  "code %i, of a member that stops, is service_unavailable",
  (code) => {
    expect(translateMongoError(new MongoServerError({ message: "stepped down", code }))).toMatchObject({
      code: "service_unavailable",
    });
  },
);

test("an operation that MongoDB refuses is internal_error, its text withheld", async () => {
  const refusal = translateMongoError(await errorOf(mongo.db.collection("people").findOne({ $bad: 1 })));
  expect(refusal).toMatchObject({ code: "internal_error", message: new ServiceError("internal_error").message });
});

test("a refusal stays what it is, and anything unknown becomes internal_error", () => {
  const refusal = new ServiceError("entity_exists");
  expect(translateMongoError(refusal)).toBe(refusal);
  expect(translateMongoError("text")).toMatchObject({ code: "internal_error" });
});

test("a duplicate key is told, and of which index", async () => {
  const people = mongo.db.collection("people");
  const person = () => ({ organization_id: "org_1", email: "a@example.com" });
  await people.insertOne(person());
  const error = await errorOf(people.insertOne(person()));
  expect(isDuplicateKey(error)).toBe(true);
  expect(isDuplicateKey(error, "email")).toBe(true);
  expect(isDuplicateKey(error, "_id")).toBe(false);
  expect(isDuplicateKey(await errorOf(people.findOne({ $bad: 1 })))).toBe(false);
  expect(isDuplicateKey(undefined)).toBe(false);
});

test("a duplicate key among many inserts is told", async () => {
  const people = mongo.db.collection("people");
  const person = () => ({ organization_id: "org_2", email: "b@example.com" });
  expect(isDuplicateKey(await errorOf(people.insertMany([person(), person()])))).toBe(true);
});
