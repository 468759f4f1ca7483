import { beforeEach, expect, test } from "@jest/globals";
import { testMongo } from "@vvs/testing";
import { forAged, type Keeping } from "./aged.ts";

interface Item {
  readonly _id: string;
  readonly organization_id: string;
  readonly created_at: Date;
  readonly busy?: true;
}

const now = new Date("2026-11-25T12:00:00Z");
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
const mongo = await testMongo();
const items = () => mongo.db.collection<Item>("items");

await items().createIndex({ organization_id: 1, created_at: -1, _id: -1 });
beforeEach(async () => void (await items().deleteMany({})));

const add = (organization_id: string, ...days: number[]) =>
  items().insertMany(
    days.map((age) => ({ _id: `${organization_id}:${age}`, organization_id, created_at: daysAgo(age) })),
  );

async function aged(keeping: Keeping) {
  const found: string[] = [];
  const options = { filter: { busy: { $ne: true } }, keeping, now, stopping: new AbortController().signal } as const;
  const sum = await forAged(items(), options, async (organizationId, ids) => {
    expect(ids.every((id) => id.startsWith(`${organizationId}:`))).toBe(true);
    found.push(...ids);
    return ids.length;
  });
  expect(sum).toBe(found.length);
  return found;
}

test("documents older than the limit are old, even if there are few", async () => {
  await add("a", 0.5, 13.9, 14.1, 30);
  await add("b", 15);
  expect(await aged({ days: 14, newest: 100 })).toEqual(["a:30", "a:14.1", "b:15"]);
});

test("documents beyond an organization's number are old, but none that is younger than a day", async () => {
  await add("a", 0.1, 0.2, 0.9, 1.1, 2, 3);
  await add("b", 2, 3);
  expect(await aged({ days: 14, newest: 4 })).toEqual(["a:3", "a:2"]);
  expect(await aged({ days: 14, newest: 2 })).toEqual(["a:3", "a:2", "a:1.1"]);
});

test("documents that may not go yet stay, and documents without an organization are not looked at", async () => {
  await add("a", 20, 21);
  await items().updateOne({ _id: "a:21" }, { $set: { busy: true } });
  await mongo.db
    .collection<{ _id: string; created_at: Date }>("items")
    .insertOne({ _id: "mark", created_at: daysAgo(20) });
  expect(await aged({ days: 14, newest: 100 })).toEqual(["a:20"]);
});

test("many documents come in batches, each once", async () => {
  const many = Array.from({ length: 1_200 }, (_, index) => 20 + index / 1_000);
  await add("a", ...many);
  const found = await aged({ days: 14, newest: 100 });
  expect([found.length, new Set(found).size]).toEqual([1_200, 1_200]);
});
