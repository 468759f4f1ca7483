import { randomBytes } from "node:crypto";
import { type Db, type DbOptions, MongoClient } from "mongodb";
import { atEnd } from "./at-end.ts";

/** Databases on a real replica set, until the tests of the file are over. */
export interface TestMongo {
  readonly client: MongoClient;
  /** Prefix of the names of all databases of this test. */
  readonly prefix: string;
  /** A database for tests that need only one. */
  readonly db: Db;
  /** Returns another database. */
  newDb(options?: DbOptions): Db;
}

/** Connects with majority reads and writes, as services do. The client reports its commands. */
export async function testMongo(): Promise<TestMongo> {
  const client = await new MongoClient(process.env.MONGODB_URI!, {
    readConcern: { level: "majority" },
    writeConcern: { w: "majority" },
    monitorCommands: true,
  }).connect();
  const prefix = `test_${randomBytes(6).toString("hex")}_`;
  atEnd(async () => {
    const all = await client.db("admin").admin().listDatabases({ nameOnly: true });
    const own = all.databases.filter(({ name }) => name.startsWith(prefix));
    await Promise.all(own.map(({ name }) => client.db(name).dropDatabase()));
    await client.close();
  });
  let databases = 0;
  return {
    client,
    prefix,
    db: client.db(`${prefix}one`),
    newDb: (options) => client.db(`${prefix}${++databases}`, options),
  };
}
