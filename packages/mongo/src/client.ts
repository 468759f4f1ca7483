import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import { type Environment, environments } from "@vvs/tenant";
import { type ClientSession, type Db, MongoClient } from "mongodb";

/** How long an operation looks for a primary before it fails. */
const SERVER_SELECTION_MS = 5_000;
const RETRY_MS = 1_000;

/** The databases of a service that keeps each environment's data apart. */
export type EnvironmentDatabases = Readonly<Record<Environment, Db>>;

/**
 * Connects with majority reads and writes, so that what decides can't be rolled back. Waits as long as it takes for
 * the cluster to be there (services start in any order), and says so once. With `stopping` aborted from the beginning
 * it tries once, as commands do. Errors: a connection string that can't be used, or `stopping` while it waits.
 */
export async function connectMongo(options: {
  uri: string;
  service: string;
  logger: Logger;
  stopping: AbortSignal;
}): Promise<MongoClient> {
  const { logger, stopping } = options;
  for (let told = false; ; told = true) {
    // A new one each time: a client whose first connection failed never connects again.
    const client = createClient(options.uri, options.service);
    try {
      await client.db("admin").command({ ping: 1 }, { signal: stopping.aborted ? undefined : stopping });
      if (told) logger.info("MongoDB is reached");
      return client;
    } catch (error) {
      await client.close();
      if (stopping.aborted) throw error;
      if (!told) logger.error({ err: error }, "MongoDB is out of reach; waiting for it");
    }
    await wait(RETRY_MS, undefined, { signal: stopping });
  }
}

function createClient(uri: string, service: string): MongoClient {
  return new MongoClient(uri, {
    appName: service,
    readConcern: { level: "majority" },
    writeConcern: { w: "majority" },
    readPreference: "primary",
    serverSelectionTimeoutMS: SERVER_SELECTION_MS,
    maxPoolSize: 50,
    ignoreUndefined: true,
  });
}

/** A service's databases, one per environment: <prefix><service>_live and <prefix><service>_sandbox. */
export function environmentDatabases(client: MongoClient, prefix: string, service: string): EnvironmentDatabases {
  const [live, sandbox] = environments.map((environment) =>
    client.db(databaseName(prefix, `${service}_${environment}`)),
  );
  return { live: live!, sandbox: sandbox! };
}

/** The name of a database; MongoDB forbids some characters that services' names have. */
export function databaseName(prefix: string, name: string): string {
  return `${prefix}${name.replaceAll("-", "_")}`;
}

/** Runs `work` in a transaction: all of its writes, or none. It may run more than once, so it must only write to MongoDB. */
export function inTransaction<T>(client: MongoClient, work: (session: ClientSession) => Promise<T>): Promise<T> {
  return client.withSession((session) => session.withTransaction(() => work(session)));
}
