import { afterAll, afterEach, beforeAll } from "@jest/globals";
import { captureLogs, type MongoProxy, mongoProxy, type TestMongo, testMongo } from "@vvs/testing";
import type { Document, MongoClient } from "mongodb";
import { connectMongo } from "../client.ts";

/** Sets up a collection `things`, and a client behind a proxy with which tests can stop the server's traffic. */
export function mongoBehindProxy<Thing extends Document>() {
  const server = {} as { mongo: TestMongo; proxy: MongoProxy; client: MongoClient };
  beforeAll(async () => {
    server.mongo = await testMongo(process.env.MONGODB_URI!);
    await server.mongo.db.createCollection("things");
    server.proxy = await mongoProxy(process.env.MONGODB_URI!);
    const { logger } = captureLogs();
    const stopping = new AbortController().signal;
    server.client = await connectMongo({ uri: server.proxy.uri, service: "test", logger, stopping });
  });
  afterEach(() => server.proxy.release());
  afterAll(async () => {
    await server.client.close();
    server.proxy.close();
    await server.mongo.close();
  });
  return {
    server,
    /** The collection through the proxy. */
    things: () => server.client.db(server.mongo.db.databaseName).collection<Thing>("things"),
    /** The collection without the proxy. */
    stored: () => server.mongo.db.collection<Thing>("things"),
  };
}

/** Returns the error of work that fails; undefined if it succeeds. */
export const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
