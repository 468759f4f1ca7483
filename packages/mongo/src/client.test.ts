import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { captureLogs, eventually, type TestMongo, testMongo } from "@vvs/testing";
import type { MongoClient } from "mongodb";
import { connectMongo, databaseName, environmentDatabases } from "./client.ts";
import { inTransaction } from "./transaction.ts";

const uri = process.env.MONGODB_URI!;
const never = new AbortController().signal;
let mongo: TestMongo;
beforeAll(async () => {
  mongo = await testMongo(uri);
  await mongo.db.createCollection("things");
});
afterAll(() => mongo.close());

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve) =>
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
}

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, 0);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Makes the real server available on another port. */
async function forward(port: number): Promise<void> {
  const target = new URL(uri);
  const server = createServer((socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    socket.pipe(upstream).pipe(socket);
    for (const end of [socket, upstream]) end.on("error", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
  });
  await listen(server, port);
  opened.push(() => server.close());
}

test("a client waits for an unavailable server, logs so once, and connects when it is available", async () => {
  const port = await closedPort();
  const { logger, lines } = captureLogs();
  const target = `mongodb://127.0.0.1:${port}/?directConnection=true`;
  const connecting = connectMongo({ uri: target, service: "test", logger, stopping: never });
  await eventually(() => lines.length > 0);
  await forward(port);
  const client: MongoClient = await connecting;
  opened.push(() => client.close());
  expect(await client.db("admin").command({ ping: 1 })).toMatchObject({ ok: 1 });
  expect(lines.slice(0, 2)).toMatchObject([
    { level: "error", err: { type: "MongoServerSelectionError" } },
    { level: "info", msg: "MongoDB is available" },
  ]);
});

test("a client stops waiting when the service stops", async () => {
  const { logger, lines } = captureLogs();
  const stop = new AbortController();
  const target = `mongodb://127.0.0.1:${await closedPort()}/?directConnection=true`;
  const connecting = connectMongo({ uri: target, service: "test", logger, stopping: stop.signal });
  stop.abort(new Error("stopped"));
  await expect(connecting).rejects.toThrow();
  expect(lines).toEqual([]);
});

test("a client that must not wait tries once", async () => {
  const { logger, lines } = captureLogs();
  const stopping = AbortSignal.abort();
  const client = await connectMongo({ uri, service: "test", logger, stopping });
  opened.push(() => client.close());
  const unreachable = `mongodb://127.0.0.1:${await closedPort()}/?directConnection=true`;
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
