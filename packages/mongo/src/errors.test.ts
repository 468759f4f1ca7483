import { describe, expect, test } from "@jest/globals";
import { isOutcomeUnknown, ServiceError } from "@vvs/errors";
import { eventually, mongoProxy, testMongo } from "@vvs/testing";
import {
  MongoBulkWriteError,
  MongoClient,
  MongoClientBulkWriteCursorError,
  MongoClientBulkWriteError,
  MongoClientBulkWriteExecutionError,
  MongoClientClosedError,
  type MongoError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoRuntimeError,
  MongoServerError,
  MongoStalePrimaryError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from "mongodb";
import { afterEffect, isDuplicateKey, translateMongoError } from "./errors.ts";
import { errorOf } from "./testing/mongo-behind-proxy.ts";
import { inTransaction } from "./transaction.ts";

const uri = process.env.MONGODB_URI!;
const mongo = await testMongo();
const people = await mongo.db.createCollection("people");
await people.createIndex({ organization_id: 1, email: 1 }, { unique: true });

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
  // The first calls may end before the connection is open.
  await eventually(() => db.command({ ping: 1 }).catch(() => undefined));
  await db.collection("people").insertOne({ organization_id: "org_0", email: "slow" });
  const slow = db.collection("people").findOne({ $where: "sleep(1000) || true" });
  const error = await errorOf(db.collection("people").findOne({}));
  expect(translateMongoError(error)).toMatchObject({ code: "service_unavailable" });
  await slow;
  await client.close();
});

test("a transaction that conflicts with another is service_unavailable", async () => {
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
  "code %i, of a member that shuts down, is service_unavailable",
  (code) => {
    expect(translateMongoError(new MongoServerError({ message: "stepped down", code }))).toMatchObject({
      code: "service_unavailable",
    });
  },
);

describe("an error of the network is service_unavailable", () => {
  const network = () => new MongoNetworkError("read ECONNRESET");
  const notConfirmed = { code: 64, codeName: "WriteConcernFailed", errmsg: "waiting for replication timed out" };
  const bulkResult = {} as ConstructorParameters<typeof MongoBulkWriteError>[1];
  const withCause = <E extends MongoError>(error: E, cause: unknown) => Object.assign(error, { cause });
  const labelled = (label: string) => {
    const error = new MongoServerError({ message: "try again", errorLabels: [label] });
    return error;
  };
  test.each<[string, () => Error]>([
    ["by itself", network],
    ["as a timeout", () => new MongoNetworkTimeoutError("connection timed out")],
    ["that ended a bulk write", () => new MongoBulkWriteError(network() as never, bulkResult)],
    [
      "that ended a bulk write, as a stepdown",
      () => new MongoBulkWriteError({ message: "", code: 189 } as never, bulkResult),
    ],
    [
      "that ended a bulk write of several collections",
      () => withCause(new MongoClientBulkWriteExecutionError(""), network()),
    ],
    ["behind the results of such a write", () => withCause(new MongoClientBulkWriteCursorError(""), network())],
    [
      "in the write concerns of such a write",
      () =>
        Object.assign(new MongoClientBulkWriteError({ message: "" }), {
          writeConcernErrors: [new MongoServerError({ ...notConfirmed, message: "" })],
        }),
    ],
    ["behind a server error", () => new MongoServerError({ message: "", originalError: network() })],
    ["behind a stale primary", () => withCause(new MongoStalePrimaryError(""), network())],
    ["behind an operation's timeout", () => withCause(new MongoOperationTimeoutError(""), network())],
    ["behind any of the driver's errors", () => withCause(new MongoRuntimeError(""), network())],
    [
      "behind a cause's cause",
      () => withCause(new MongoRuntimeError(""), withCause(new MongoRuntimeError(""), network())),
    ],
    [
      "as a write that too few members confirmed",
      () => new MongoWriteConcernError({ ok: 1, writeConcernError: notConfirmed }),
    ],
    ["as a client that was never connected", () => new MongoNotConnectedError("")],
    ["as a client that was closed", () => new MongoClientClosedError()],
    ["as a topology that was closed", () => new MongoTopologyClosedError("")],
    ["as an operation that took too long", () => new MongoServerError({ message: "", code: 50 })],
    ["as a transaction that lived too long", () => new MongoServerError({ message: "", code: 290 })],
    ["as a pool that was cleared", () => labelled("PoolRequestedRetry")],
    ["as a server that is overloaded", () => labelled("SystemOverloadedError")],
  ])("%s", (_shape, make) => {
    const refusal = translateMongoError(make());
    expect(refusal).toMatchObject({ code: "service_unavailable", retryAfterSeconds: 5 });
  });

  test("if MongoDB becomes unavailable in the middle of insertMany", async () => {
    const proxy = await mongoProxy(uri);
    const client = await new MongoClient(proxy.uri, { serverSelectionTimeoutMS: 1_000 }).connect();
    proxy.loseReply("in the middle", "cut", 2);
    const things = client.db(mongo.db.databaseName).collection<{ _id: string }>("things");
    const error = await errorOf(things.insertMany([{ _id: "in the middle" }, { _id: "after" }]));
    expect(error).toBeInstanceOf(MongoBulkWriteError);
    expect(translateMongoError(error)).toMatchObject({ code: "service_unavailable" });
    await client.close();
    proxy.close();
  });

  test.each([
    [
      "a bulk write with a duplicate key",
      () => new MongoBulkWriteError({ message: "", code: 11_000 } as never, bulkResult),
    ],
    ["an error in the use of the driver", () => new MongoRuntimeError("")],
  ])("but not %s", (_shape, make) => {
    expect(translateMongoError(make())).toMatchObject({ code: "internal_error" });
  });
});

test("service_unavailable after a call's effect means an unknown outcome, any other error stays the same", async () => {
  const after = (error: unknown) => errorOf(Promise.reject(error).catch(afterEffect));
  for (const unavailable of [new MongoNetworkError("read ECONNRESET"), new ServiceError("service_unavailable")]) {
    expect(isOutcomeUnknown(await after(unavailable))).toBe(true);
  }
  const refusal = new ServiceError("rate_limited");
  expect(await after(refusal)).toBe(refusal);
});

test("an operation that MongoDB refuses is internal_error, its text withheld", async () => {
  const refusal = translateMongoError(await errorOf(people.findOne({ $bad: 1 })));
  expect(refusal).toMatchObject({ code: "internal_error", message: new ServiceError("internal_error").message });
});

test("a refusal stays the same, and any unknown error becomes internal_error", () => {
  const refusal = new ServiceError("entity_exists");
  expect(translateMongoError(refusal)).toBe(refusal);
  expect(translateMongoError("text")).toMatchObject({ code: "internal_error" });
});

test("a duplicate key is recognized, with its index", async () => {
  const person = () => ({ organization_id: "org_1", email: "a@example.com" });
  await people.insertOne(person());
  const error = await errorOf(people.insertOne(person()));
  expect(isDuplicateKey(error)).toBe(true);
  expect(isDuplicateKey(error, "email")).toBe(true);
  expect(isDuplicateKey(error, "_id")).toBe(false);
  expect(isDuplicateKey(await errorOf(people.findOne({ $bad: 1 })))).toBe(false);
  expect(isDuplicateKey(undefined)).toBe(false);
});

test("a duplicate key among many inserts is recognized", async () => {
  const person = () => ({ organization_id: "org_2", email: "b@example.com" });
  expect(isDuplicateKey(await errorOf(people.insertMany([person(), person()])))).toBe(true);
});
