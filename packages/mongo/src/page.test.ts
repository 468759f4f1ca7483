import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, test } from "@jest/globals";
import { PageRequestSchema } from "@vvs/proto/common/v1/common";
import { testMongo } from "@vvs/testing";
import { findPage, type Page } from "./page.ts";

interface Item {
  _id: string;
  organization_id: string;
  created_at: Date;
}

const mongo = await testMongo();
const items = mongo.db.collection<Item>("items");
await items.createIndex({ organization_id: 1, created_at: -1, _id: -1 });
beforeEach(() => items.deleteMany({}));

const mine = { organization_id: "org_1" };
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const item = (id: string, second: number, organization = "org_1"): Item => ({
  _id: id,
  organization_id: organization,
  created_at: at(second),
});
const pageAfter = (limit: number, after?: Page<Item>["next"]) => create(PageRequestSchema, { limit, after });
const ids = (page: Page<Item>) => page.items.map(({ _id }) => _id);

async function readAll(limit: number, betweenPages: () => Promise<unknown> = async () => undefined) {
  const pages: string[][] = [];
  let next: Page<Item>["next"];
  do {
    const page = await findPage(items, mine, pageAfter(limit, next));
    pages.push(ids(page));
    next = page.next;
    await betweenPages();
  } while (next);
  return pages;
}

test.each([1, 2, 3, 7, 100])("pages of %i contain every item once, newest first, ties by id", async (limit) => {
  // Four have the same creation time.
  await items.insertMany([
    item("a", 1),
    item("d", 2),
    item("b", 2),
    item("e", 2),
    item("c", 2),
    item("f", 3),
    item("g", 4),
  ]);
  await items.insertOne(item("other", 2, "org_2"));
  const pages = await readAll(limit);
  expect(pages.flat()).toEqual(["g", "f", "e", "d", "c", "b", "a"]);
  expect(pages.every((page) => page.length <= limit)).toBe(true);
});

test("a full last page says that it is the last", async () => {
  await items.insertMany([item("a", 1), item("b", 2)]);
  expect((await findPage(items, mine, pageAfter(2))).next).toBeUndefined();
});

test("items inserted between two pages do not move the items of later pages", async () => {
  await items.insertMany([item("a", 1), item("b", 2), item("c", 3), item("d", 4)]);
  let second = 10;
  const pages = await readAll(1, () => items.insertOne(item(`new${second}`, second++)));
  expect(pages.flat()).toEqual(["d", "c", "b", "a"]);
});

test("items removed between two pages hide no other items", async () => {
  await items.insertMany([item("a", 1), item("b", 2), item("c", 3)]);
  const first = await findPage(items, mine, pageAfter(1));
  await items.deleteOne({ _id: "c" });
  expect(ids(await findPage(items, mine, pageAfter(5, first.next)))).toEqual(["b", "a"]);
});

test("an empty list is one empty page", async () => {
  expect(await findPage(items, mine, pageAfter(5))).toEqual({ items: [], next: undefined });
});

test("a page deep in the list reads no more of the index than the first page", async () => {
  await items.insertMany(Array.from({ length: 500 }, (_, index) => item(String(index).padStart(3, "0"), index)));
  await mongo.db.command({ profile: 2 });
  await findPage(items, mine, pageAfter(10, { createdAt: timestampFromDate(at(20)), id: "020" }));
  await mongo.db.command({ profile: 0 });
  const [profile] = await mongo.db.collection("system.profile").find({ op: "query", ns: items.namespace }).toArray();
  expect(profile).toMatchObject({ nreturned: 11 });
  expect(profile!.keysExamined).toBeLessThan(20);
  expect(profile!.hasSortStage).toBeUndefined();
});

test.each([undefined, pageAfter(0), pageAfter(101), pageAfter(-1)])(
  "page %# without a limit of 1–100 is refused",
  async (page) => {
    await expect(findPage(items, mine, page)).rejects.toMatchObject({
      code: "invalid_request",
      details: [{ path: "limit" }],
    });
  },
);

test("an incomplete position is refused, and does not start the list again", async () => {
  const page = create(PageRequestSchema, { limit: 1, after: { id: "a" } });
  await expect(findPage(items, mine, page)).rejects.toMatchObject({ details: [{ path: "after" }] });
});
