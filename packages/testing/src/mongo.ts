import { randomBytes } from "node:crypto";
import { type Db, MongoClient } from "mongodb";

/** Databases of one test, on a real replica set. */
export interface TestMongo {
  readonly client: MongoClient;
  /** Prefix of the names of all databases of this test. */
  readonly prefix: string;
  /** A database for tests that need only one. */
  readonly db: Db;
  /** Drops every database with the prefix, and disconnects. */
  close(): Promise<void>;
}

/** Connects with majority reads and writes, as services do. `uri` is MONGODB_URI if absent. */
export async function testMongo(uri = process.env.MONGODB_URI!): Promise<TestMongo> {
  const client = new MongoClient(uri, { readConcern: { level: "majority" }, writeConcern: { w: "majority" } });
  await client.connect();
  const prefix = `test_${randomBytes(6).toString("hex")}_`;
  return {
    client,
    prefix,
    db: client.db(`${prefix}one`),
    async close() {
      const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
      const own = databases.filter(({ name }) => name.startsWith(prefix));
      await Promise.all(own.map(({ name }) => client.db(name).dropDatabase()));
      await client.close();
    },
  };
}
