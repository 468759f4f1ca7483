import { connect, createServer } from "node:net";
import { expect, test } from "@jest/globals";
import { captureLogs, eventually, listening, testMongo, untilEnd } from "@vvs/testing";
import { connectMongo, databaseName, environmentDatabases } from "./client.ts";
import { inTransaction } from "./transaction.ts";

const uri = process.env.MONGODB_URI!;
const never = new AbortController().signal;
const mongo = await testMongo();
await mongo.db.createCollection("things");

/** No server listens there. */
const unreachable = "mongodb://127.0.0.1:1/?directConnection=true";

/** Returns an address at which the real server is unavailable until `open` is called. */
async function closedWay() {
  const target = new URL(uri);
  let isOpen = false;
  const server = createServer((socket) => {
    if (!isOpen) return void socket.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    socket.pipe(upstream).pipe(socket);
    for (const end of [socket, upstream]) end.on("error", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
  });
  return {
    uri: `mongodb://127.0.0.1:${await listening(server)}/?directConnection=true`,
    open() {
      isOpen = true;
    },
  };
}

test("a client waits for an unavailable server, logs so once, and connects when it is available", async () => {
  const way = await closedWay();
  const { logger, lines } = captureLogs();
  const connecting = connectMongo({ uri: way.uri, service: "test", logger, stopping: never });
  await eventually(() => lines.length > 0);
  way.open();
  const client = untilEnd(await connecting);
  expect(await client.db("admin").command({ ping: 1 })).toMatchObject({ ok: 1 });
  expect(lines.slice(0, 2)).toMatchObject([
    { level: "error", err: { type: "MongoServerSelectionError" } },
    { level: "info", msg: "MongoDB is available" },
  ]);
});

test("a client stops waiting when the service stops", async () => {
  const { logger, lines } = captureLogs();
  const stop = new AbortController();
  const connecting = connectMongo({ uri: unreachable, service: "test", logger, stopping: stop.signal });
  stop.abort(new Error("stopped"));
  await expect(connecting).rejects.toThrow();
  expect(lines).toEqual([]);
});

test("a client that must not wait tries once", async () => {
  const { logger, lines } = captureLogs();
  const stopping = AbortSignal.abort();
  untilEnd(await connectMongo({ uri, service: "test", logger, stopping }));
  lines.length = 0;
  await expect(connectMongo({ uri: unreachable, service: "test", logger, stopping })).rejects.toThrow("ECONNREFUSED");
  expect(lines).toEqual([]);
});

test("an invalid connection string is an error immediately", async () => {
  const { logger } = captureLogs();
  const connecting = connectMongo({ uri: "mongodb://", service: "test", logger, stopping: never });
  await expect(connecting).rejects.toThrow();
});

test("reads and writes are majority by default", () => {
  expect(mongo.client.options.readConcern?.level).toBe("majority");
  expect(mongo.client.options.writeConcern?.w).toBe("majority");
});

test("a transaction writes all or nothing, and returns what its work returns", async () => {
  const things = mongo.db.collection<{ _id: string }>("things");
  const failing = inTransaction(mongo.client, async (session) => {
    await things.insertOne({ _id: "undone" }, { session });
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  const returned = await inTransaction(mongo.client, async (session) => {
    await things.insertOne({ _id: "one" }, { session });
    await things.insertOne({ _id: "two" }, { session });
    return "done";
  });
  expect(returned).toBe("done");
  expect((await things.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id)).toEqual(["one", "two"]);
});

test("two transactions on one document are both applied: the one that loses is retried", async () => {
  const counters = mongo.db.collection<{ _id: string; value: number }>("things");
  await counters.insertOne({ _id: "counter", value: 0 });
  let runs = 0;
  const increment = () =>
    inTransaction(mongo.client, async (session) => {
      runs++;
      const { value } = (await counters.findOne({ _id: "counter" }, { session }))!;
      await counters.updateOne({ _id: "counter" }, { $set: { value: value + 1 } }, { session });
    });
  await Promise.all(Array.from({ length: 5 }, increment));
  expect(await counters.findOne({ _id: "counter" })).toMatchObject({ value: 5 });
  expect(runs).toBeGreaterThan(5);
});

test("each environment of a service has its own database, with a name that MongoDB allows", () => {
  const databases = environmentDatabases(mongo.client, "x_", "change-detector");
  expect(databases.live.databaseName).toBe("x_change_detector_live");
  expect(databases.sandbox.databaseName).toBe("x_change_detector_sandbox");
  expect(databaseName("", "account")).toBe("account");
});
