import { randomBytes } from "node:crypto";
import { type Db, MongoClient } from "mongodb";

/** Databases for the tests of a process, one test after the other. */
export interface DatabasePool {
  /** Returns a prefix of names: a new one, or that of databases which a test gave back. Migrate them in both cases. */
  take(): string;
  /** Empties the databases with the prefix for another test. */
  giveBack(prefix: string): Promise<void>;
}

/** Creates a pool. Creating databases takes longer than most tests, so they are used again, and dropped when the process ends. */
export function databasePool(): DatabasePool {
  const client = new MongoClient(process.env.MONGODB_URI!);
  const free: string[] = [];
  process.once("beforeExit", async () => {
    for (const prefix of free.splice(0)) await forEach(client, prefix, (db) => db.dropDatabase());
    await client.close();
  });
  return {
    take: () => free.pop() ?? `t${randomBytes(6).toString("hex")}_`,
    async giveBack(prefix) {
      await forEach(client, prefix, empty);
      free.push(prefix);
    },
  };
}

async function forEach(client: MongoClient, prefix: string, work: (db: Db) => Promise<unknown>): Promise<void> {
  const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
  const own = databases.filter(({ name }) => name.startsWith(prefix));
  await Promise.all(own.map(({ name }) => work(client.db(name))));
}

async function empty(db: Db): Promise<void> {
  const collections = await db.listCollections({ name: /^(?!system[.])/ }, { nameOnly: true }).toArray();
  await Promise.all(collections.map(({ name }) => db.collection(name).deleteMany({})));
}
