import { randomBytes } from "node:crypto";
import { type Db, MongoClient } from "mongodb";

/** Databases for the tests of one file, one test after the other. */
export interface DatabasePool {
  /** Returns a prefix of names: a new one, or that of databases which a test gave back. Migrate them in both cases. */
  take(): string;
  /** Empties the databases with the prefix for another test; once the file's tests are over, drops them. */
  giveBack(client: MongoClient, prefix: string): Promise<void>;
}

/** Creates a pool. Creating databases takes longer than most tests, so they are used again. `afterAll` is jest's. */
export function databasePool(
  afterAll: (drop: () => Promise<void>) => void,
  uri = process.env.MONGODB_URI!,
): DatabasePool {
  const free: string[] = [];
  let isOver = false;
  afterAll(async () => {
    isOver = true;
    const client = new MongoClient(uri);
    for (const prefix of free) await forEach(client, prefix, (db) => db.dropDatabase());
    await client.close();
  });
  return {
    take: () => free.pop() ?? `t${randomBytes(6).toString("hex")}_`,
    async giveBack(client, prefix) {
      await forEach(client, prefix, isOver ? (db) => db.dropDatabase() : empty);
      if (!isOver) free.push(prefix);
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
