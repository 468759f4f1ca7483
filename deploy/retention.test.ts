import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { projectRoot } from "./local/services.ts";
import { migrateDatabases } from "./migrate.ts";
import { type Kept, kept } from "./testing/kept.ts";

const prefix = `t${randomBytes(6).toString("hex")}_`;
const client = new MongoClient(process.env.MONGODB_URI!);
const SECONDS: Readonly<Record<string, number>> = { minute: 60, h: 3_600, hour: 3_600, day: 86_400 };

beforeAll(() => migrateDatabases({ client, prefix }));

afterAll(async () => {
  for (const name of await databases()) await client.db(name).dropDatabase();
  await client.close();
});

async function databases(): Promise<string[]> {
  const found = await client.db("admin").admin().listDatabases({ nameOnly: true });
  return found.databases.map(({ name }) => name).filter((name) => name.startsWith(prefix));
}

/** Returns the service's database and each of its collections, with the seconds of its expiry index where it has one. */
async function migrated(): Promise<
  { service: string; isSandbox: boolean; collection: string; seconds: number | undefined }[]
> {
  const found = [];
  for (const name of await databases()) {
    const service = name.slice(prefix.length).replace(/_(live|sandbox)$/, "");
    for (const { collectionName: collection, indexes } of await indexed(name)) {
      const expiring = indexes.filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
      found.push({
        service,
        isSandbox: name.endsWith("_sandbox"),
        collection,
        seconds: expiring[0]?.expireAfterSeconds,
      });
    }
  }
  return found;
}

async function indexed(database: string) {
  const collections = await client.db(database).collections();
  return Promise.all(
    collections.map(async (each) => ({ collectionName: each.collectionName, indexes: await each.indexes() })),
  );
}

function secondsIn(one: Kept | undefined, isSandbox = false): number | undefined {
  if (typeof one !== "object" || !("seconds" in one)) return undefined;
  const { seconds, inSandbox = seconds } = one;
  if (!isSandbox) return seconds;
  return typeof inSandbox === "number" ? inSandbox : undefined;
}

/** Returns each collection that MongoDB expires and its seconds; 0 if each document has its own time. */
function expiring(): Map<string, number> {
  const all = Object.values(kept).flatMap(Object.entries<Kept>);
  return new Map(
    all.flatMap(([collection, one]) => {
      const seconds = secondsIn(one);
      return seconds === undefined ? [] : [[collection, seconds] as const];
    }),
  );
}

/** Returns each collection in the table of the operations guide with its retention as text. */
function documentedRetention(): Map<string, string> {
  const guide = readFileSync(join(projectRoot, "docs/operations.md"), "utf8");
  const [, section] = /## How long things are kept\n([\s\S]*?)\n## /.exec(guide)!;
  const rows = section!.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| what "));
  return new Map(
    rows.flatMap((row) => {
      const [, , where = "", how = ""] = row.split("|").map((cell) => cell.trim());
      return [...where.matchAll(/`(\w+)`/g)].map(([, collection]) => [collection!, how] as const);
    }),
  );
}

/** Returns the seconds of "30 days from their claim" or "an hour after its lease"; 0 for "until they end: …". */
function secondsOf(how: string): number {
  const [, count, unit] = /^(\d+|an?) (minute|h|hour|day)s?\b/.exec(how) ?? [];
  return count ? (Number(count) || 1) * SECONDS[unit!]! : 0;
}

test("the table names every collection of every service, and MongoDB expires what it says, when it says", async () => {
  const found = await migrated();
  const inTable = found.map((one) => ({
    ...one,
    seconds: secondsIn(kept[one.service]?.[one.collection], one.isSandbox),
  }));
  expect(found.filter(({ service, collection }) => !kept[service]?.[collection])).toEqual([]);
  expect(found).toEqual(inTable);
  const existing = new Set(found.map(({ service, collection }) => `${service}.${collection}`));
  const named = Object.entries(kept).flatMap(([service, its]) => Object.keys(its).map((one) => `${service}.${one}`));
  expect(named.filter((one) => !existing.has(one))).toEqual([]);
});

test("the operations guide lists every collection that documents are deleted from, with the right time", () => {
  const guide = documentedRetention();
  for (const [collection, seconds] of expiring()) {
    expect({ collection, seconds: secondsOf(guide.get(collection) ?? "missing") }).toEqual({ collection, seconds });
  }
  const deleting = Object.values(kept).flatMap((its) => Object.keys(its).filter((one) => its[one] !== "always"));
  expect(deleting.filter((collection) => !guide.has(collection))).toEqual([]);
  const named = [...guide.keys()].filter((name) => !/_$/.test(name) && name !== "account");
  expect(named.filter((collection) => !deleting.includes(collection))).toEqual([]);
});
