import { describe, expect, test } from "@jest/globals";
import { testMongo } from "@vvs/testing";
import { Binary } from "mongodb";
import { commandsDuring } from "../../../../test/support/command-counts.ts";
import { bodiesOf, createEvidenceBodies, type ObjectStore, sha256Of } from "./bodies.ts";

const { client, db } = await testMongo();

const bodyOf = (content: string) => ({ sha256: sha256Of(content), content });
let now = new Date("2026-11-25T12:00:00Z");
const withDefaults = {
  db,
  store: "mongodb",
  keyPrefix: "",
  objects: undefined,
  now: () => now,
} as const;
const replica = (options: Partial<Parameters<typeof createEvidenceBodies>[0]> = {}) =>
  createEvidenceBodies({ ...withDefaults, ...options });
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

describe.each(["mongodb", "s3"] as const)("compressed bodies in %s", (store) => {
  const held = new Map<string, Uint8Array>();
  const objects: ObjectStore = {
    put: async (key, bytes) => void held.set(key, bytes),
    get: async (key) => held.get(key),
    remove: async (key) => void held.delete(key),
  };
  const bodies = replica({ store, objects });
  const read = async ({ sha256 }: { sha256: string }) => String(Buffer.from((await bodies.get(sha256))!));
  const storedOf = async ({ sha256 }: { sha256: string }) => {
    const body = (await bodiesOf(db).findOne({ _id: sha256 }))!;
    return { ...body, stored: body.object_key ? held.get(body.object_key)! : body.content!.buffer };
  };

  test("take less room, and are read like those that compressing makes no smaller", async () => {
    const [long, tiny] = [bodyOf(`é ${store} `.repeat(500)), bodyOf(store)];
    await bodies.put([long, tiny]);
    for (const body of [long, tiny]) expect(await read(body)).toBe(body.content);
    const { bytes, stored, compression } = await storedOf(long);
    expect([bytes, compression]).toEqual([Buffer.byteLength(long.content), "gzip"]);
    expect(stored.length).toBeLessThan(bytes / 20);
    expect((await storedOf(tiny)).compression).toBeUndefined();
  });

  test("that were tampered with differ from their hash", async () => {
    const body = bodyOf(`tampered ${store} `.repeat(500));
    await bodies.put([body]);
    const { object_key } = await storedOf(body);
    if (object_key) held.set(object_key, Buffer.from("{}"));
    else await bodiesOf(db).updateOne({ _id: body.sha256 }, { $set: { content: new Binary(Buffer.from("{}")) } });
    expect(await read(body)).toBe("{}");
  });
});
