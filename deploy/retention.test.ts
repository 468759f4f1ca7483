import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { projectRoot } from "./local/services.ts";
import { migrateDatabases } from "./migrate.ts";

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

/** Returns each collection with an expiry index and its seconds; 0 if each document has its own time. */
async function actualRetention(): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const name of await databases()) {
    for (const collection of await client.db(name).collections()) {
      for (const { expireAfterSeconds } of await collection.indexes()) {
        if (expireAfterSeconds !== undefined) found.set(collection.collectionName, expireAfterSeconds);
      }
    }
  }
  return found;
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

test("the operations guide lists every collection that MongoDB expires, with the right time", async () => {
  const table = documentedRetention();
  const actual = await actualRetention();
  expect(actual.size).toBeGreaterThan(8);
  expect([...actual.keys()].filter((collection) => !table.has(collection))).toEqual([]);
  for (const [collection, seconds] of actual) {
    expect({ collection, seconds }).toEqual({ collection, seconds: secondsOf(table.get(collection)!) });
  }
});

test("MongoDB expires every collection that the operations guide lists as expiring", async () => {
  const actual = await actualRetention();
  // The service deletes these when their work is done: the relay outbox rows, the mailer sent emails, and so on.
  const done = ["outbox", "mails", "parked_runs", "sam_gov_questions", "registry_announcements", "audit_entries"];
  const byOthers = new Set(["evidence", "evidence_bodies", ...done]);
  const named = [...documentedRetention().keys()].filter(
    (name) => !byOthers.has(name) && !/_$/.test(name) && name !== "account",
  );
  expect(named.filter((collection) => !actual.has(collection))).toEqual([]);
});
