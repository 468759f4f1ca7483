import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { commandsDuring, monitored } from "../../../../test/support/command-counts.ts";
import { bodiesOf, createEvidenceBodies, sha256Of } from "./bodies.ts";

const client = new MongoClient(monitored(process.env.MONGODB_URI!));
const db = client.db(`t${randomBytes(5).toString("hex")}`);
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

const bodyOf = (content: string) => ({ sha256: sha256Of(content), content });
let now = new Date("2026-11-25T12:00:00Z");
const replica = () => createEvidenceBodies({ db, store: "mongodb", keyPrefix: "", objects: undefined, now: () => now });
const lastPut = async (content: string) => (await bodiesOf(db).findOne({ _id: sha256Of(content) }))!.last_put_at;

test("bodies of calls at the same moment are stored by one write, equal ones once", async () => {
  const bodies = replica();
  const calls = [["a"], ["a", "b"], ["c"]].map((contents) => contents.map(bodyOf));
  const counts = await commandsDuring([client], () => Promise.all(calls.map((each) => bodies.put(each))));
  expect(counts).toEqual({ "update evidence_bodies": 1 });
  for (const content of ["a", "b", "c"]) {
    expect(String(Buffer.from((await bodies.get(sha256Of(content)))!))).toBe(content);
  }
});

test("a body that was put is put again after ten minutes, so that the retention spares it", async () => {
  const bodies = replica();
  const put = () => commandsDuring([client], () => bodies.put([bodyOf("again")]));
  const first = now;
  expect(await put()).toEqual({ "update evidence_bodies": 1 });
  now = new Date(first.getTime() + 599_000);
  expect(await put()).toEqual({});
  expect(await lastPut("again")).toEqual(first);
  now = new Date(first.getTime() + 600_000);
  expect(await put()).toEqual({ "update evidence_bodies": 1 });
  expect(await lastPut("again")).toEqual(now);
});

test("replicas that store the same bodies at the same moment all succeed", async () => {
  const contents = Array.from({ length: 20 }, (_, index) => bodyOf(`shared ${index}`));
  await Promise.all(Array.from({ length: 6 }, () => replica().put(contents)));
  expect(await bodiesOf(db).countDocuments({ _id: { $in: contents.map(({ sha256 }) => sha256) } })).toBe(20);
});
