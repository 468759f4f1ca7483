import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import { type Environment, environments } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import type { MongoOptions } from "./config.ts";
import { countConnections } from "./pool-metrics.ts";
import { checkTransactionLifetime } from "./transaction-lifetime.ts";
import { DeadlineClient } from "./writes.ts";

/** Time that an operation waits for a primary before it fails. */
const SERVER_SELECTION_MS = 5_000;
/** Time that an operation waits for a connection while all are busy. */
const CONNECTION_WAIT_MS = 5_000;
/** Timeout of a connection attempt. Operations on a member that hangs fail after at most twice this time. */
const CONNECT_TIMEOUT_MS = 5_000;
const RETRY_MS = 1_000;
const DEFAULT_POOL_SIZE = 50;

/** The databases of a service that separates the data of environments. */
export type EnvironmentDatabases = Readonly<Record<Environment, Db>>;

/**
 * Connects with majority reads and writes, so that data on which decisions rest can't be rolled back. Waits without
 * limit until the cluster is available (services start in any order), and logs that once. If `stopping` is aborted from
 * the beginning, as in commands, it tries only once. Errors: a connection string that can't be used; `stopping` was
 * aborted while it waited.
 */
export async function connectMongo(
  options: MongoOptions & { service: string; logger: Logger; stopping: AbortSignal },
): Promise<MongoClient> {
  const { logger, stopping } = options;
  for (let isLogged = false; ; isLogged = true) {
    // A new one each time: a client whose first connection failed never connects again.
    const client = new DeadlineClient(options.uri, {
      appName: options.service,
      readConcern: { level: "majority" },
      writeConcern: { w: "majority" },
      readPreference: "primary",
      serverSelectionTimeoutMS: SERVER_SELECTION_MS,
      waitQueueTimeoutMS: CONNECTION_WAIT_MS,
      connectTimeoutMS: CONNECT_TIMEOUT_MS,
      maxPoolSize: options.maxPoolSize ?? DEFAULT_POOL_SIZE,
      ...options.tls,
      ignoreUndefined: true,
    });
    const reportPool = countConnections(client);
    try {
      await client.db("admin").command({ ping: 1 }, { signal: stopping.aborted ? undefined : stopping });
      if (isLogged) logger.info("MongoDB is available");
      reportPool();
      // Only services log this; the output of commands is for other things.
      if (!stopping.aborted) await checkTransactionLifetime((command) => client.db("admin").command(command), logger);
      return client;
    } catch (error) {
      await client.close();
      if (stopping.aborted) throw error;
      if (!isLogged) logger.error({ err: error }, "MongoDB is unavailable; waiting for it");
    }
    await wait(RETRY_MS, undefined, { signal: stopping });
  }
}

/** Returns a ping for `serveRpc` that succeeds if the primary answers. */
export function pingMongo(client: MongoClient): (signal: AbortSignal) => Promise<unknown> {
  return (signal) => client.db("admin").command({ ping: 1 }, { signal });
}

/** Returns a service's databases, one per environment: <prefix><service>_live and <prefix><service>_sandbox. */
export function environmentDatabases(client: MongoClient, prefix: string, service: string): EnvironmentDatabases {
  const [live, sandbox] = environments.map((environment) =>
    client.db(databaseName(prefix, `${service}_${environment}`)),
  );
  return { live: live!, sandbox: sandbox! };
}

/** Returns the name of a database, without the hyphens that names of services have. */
export function databaseName(prefix: string, name: string): string {
  return `${prefix}${name.replaceAll("-", "_")}`;
}
