import { afterEach } from "@jest/globals";
import { captureLogs, mongoProxy, testMongo, untilEnd } from "@vvs/testing";
import type { Document } from "mongodb";
import { connectMongo } from "../client.ts";

/** Sets up a collection `things`, and a client behind a proxy with which tests can stop the server's traffic. */
export async function mongoBehindProxy<Thing extends Document>() {
  const { db } = await testMongo();
  await db.createCollection("things");
  const proxy = untilEnd(await mongoProxy(process.env.MONGODB_URI!));
  const { logger } = captureLogs();
  const stopping = new AbortController().signal;
  const client = untilEnd(await connectMongo({ uri: proxy.uri, service: "test", logger, stopping }));
  afterEach(() => proxy.release());
  return {
    db,
    proxy,
    client,
    /** The collection through the proxy. */
    things: client.db(db.databaseName).collection<Thing>("things"),
    /** The collection without the proxy. */
    stored: db.collection<Thing>("things"),
  };
}

/** Returns the error of work that fails; undefined if it succeeds. */
export const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
