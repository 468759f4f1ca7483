import { beforeEach, expect, test } from "@jest/globals";
import { eventually, testMongo } from "@vvs/testing";
import type { Db } from "mongodb";
import { createLeases, type Leases, migrateLeases } from "./leases.ts";

const { newDb } = await testMongo();
let db: Db;

beforeEach(async () => {
  db = newDb();
  await migrateLeases(db, "outbox");
});

const leases = (owner: string, leaseMs = 60_000) => createLeases({ db, name: "outbox", owner, leaseMs });
const all = Array.from({ length: 16 }, (_, shard) => shard);
const sorted = (...holders: Leases[]) => holders.flatMap((each) => [...each.held()]).sort((a, b) => a - b);

test("a single relay holds every shard", async () => {
  const one = leases("one");
  await one.renew();
  expect(sorted(one)).toEqual(all);
});

test("relays share the shards, and no shard ever has two holders", async () => {
  const [one, two, three] = [leases("one"), leases("two"), leases("three")];
  for (const each of [one, two, three, one, two, three, one, two, three]) {
    await each.renew();
    expect(new Set(sorted(one, two, three)).size).toBe(sorted(one, two, three).length);
  }
  expect(sorted(one, two, three)).toEqual(all);
  for (const each of [one, two, three]) expect(each.held().length).toBeGreaterThanOrEqual(4);
});

test("a relay gives up surplus shards only when none of their records are still being sent", async () => {
  const sending = Promise.withResolvers<void>();
  const [one, two] = [leases("one"), leases("two")];
  await one.renew();
  const sent = one.settling(sending.promise);
  await two.renew();
  const renewed = one.renew();
  await eventually(() => one.held().length === 8);
  await two.renew();
  expect(two.held()).toEqual([]);
  sending.resolve();
  await Promise.all([sent, renewed]);
  await two.renew();
  expect(sorted(one, two)).toEqual(all);
});

test("a relay that stops begins nothing, but no other relay takes its shards until it releases them", async () => {
  const [one, two] = [leases("one"), leases("two")];
  await one.renew();
  one.stop();
  expect(one.held()).toEqual([]);
  await two.renew();
  expect(two.held()).toEqual([]);
  await one.release();
  await two.renew();
  expect(sorted(two)).toEqual(all);
});

test("shards that a relay releases are taken immediately", async () => {
  const [one, two] = [leases("one"), leases("two")];
  await one.renew();
  await two.renew();
  expect(two.held()).toEqual([]);
  await one.release();
  await two.renew();
  expect(sorted(one, two)).toEqual(all);
  expect(one.held()).toEqual([]);
});

test("the shards of a dead relay are taken when its lease has expired, and by then it has stopped by itself", async () => {
  const [dead, heir] = [leases("dead", 3_000), leases("heir")];
  await dead.renew();
  await heir.renew();
  expect(heir.held()).toEqual([]);
  await eventually(async () => {
    await heir.renew();
    expect(dead.held().length > 0 && heir.held().length > 0).toBe(false);
    return heir.held().length === 16;
  });
});

test("the migration can run again while a relay runs", async () => {
  const one = leases("one");
  await one.renew();
  await migrateLeases(db, "outbox");
  await one.renew();
  expect(sorted(one)).toEqual(all);
});
