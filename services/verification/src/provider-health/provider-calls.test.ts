import { beforeEach, expect, test } from "@jest/globals";
import { silentLogger as logger, testMongo } from "@vvs/testing";
import { type Db, MongoClient } from "mongodb";
import { type CallClass, callClasses } from "../providers/call-class.ts";
import { createProviderCalls } from "./provider-calls.ts";
import { providerCallsOf } from "./provider-calls-store.ts";

const mongo = await testMongo();
const MINUTE_MS = 60_000;

let db: Db;
let time: Date;
beforeEach(() => {
  db = mongo.newDb();
  time = new Date("2026-11-21T23:59:30Z");
});

interface ReplicaOptions {
  readonly quota?: number;
  readonly fingerprint?: string;
  readonly of?: Db;
}
const replica = ({ quota = 10, fingerprint = "key1", of = db }: ReplicaOptions = {}) =>
  createProviderCalls({
    db: of,
    accounts: { p: { fingerprint, quota } },
    now: () => time,
    logger,
    limit: (work) => work,
  });
type Replica = ReturnType<typeof replica>;

/** Takes calls at the same time; returns how many were counted. */
async function take(calls: Replica | readonly Replica[], callClass: CallClass, times: number): Promise<number> {
  const replicas = [calls].flat();
  const taking = Array.from({ length: times }, (_, index) => replicas[index % replicas.length]!.take("p", callClass));
  return (await Promise.all(taking)).filter(Boolean).length;
}

/** Returns the stored counts, `direct/first/runs` by day. */
async function stored(fingerprint = "key1") {
  const found = await providerCallsOf(db)
    .find({ _id: { $regex: `^p:${fingerprint}:` } })
    .toArray();
  return Object.fromEntries(
    found.map(({ _id, direct, first, runs }) => [_id.slice(-10), `${direct}/${first}/${runs}`]),
  );
}

test("calls that begin while another one is being counted are counted by one write", async () => {
  await take(replica(), "direct", 1);
  const held = Promise.withResolvers<void>();
  let writes = 0;
  const collection = providerCallsOf(db);
  const findOneAndUpdate = async (...args: Parameters<typeof collection.findOneAndUpdate>) => {
    writes++;
    await held.promise;
    return collection.findOneAndUpdate(...args);
  };
  const counting = { findOneAndUpdate, findOne: collection.findOne.bind(collection) };
  const calls = replica({ quota: 100, of: { collection: () => counting } as unknown as Db });
  const first = take(calls, "direct", 1);
  await new Promise((resolve) => setImmediate(resolve));
  const others = take(calls, "direct", 30);
  held.resolve();
  expect([await first, await others, writes]).toEqual([1, 30, 2]);
  expect(await stored()).toEqual({ "2026-11-21": "32/0/0" });
});

test("the first 50 calls of a day, of mixed classes at the same time, spend the quota exactly and leave each class its reserve", async () => {
  const replicas = [replica({ quota: 20 }), replica({ quota: 20 })];
  const made = await Promise.all(
    callClasses.map(async (callClass) => [callClass, await take(replicas, callClass, 50)] as const),
  );
  const { direct, first, runs } = Object.fromEntries(made) as Record<CallClass, number>;
  expect(direct + first + runs).toBe(20);
  expect(direct).toBeGreaterThanOrEqual(6);
  expect(runs).toBeGreaterThanOrEqual(10);
  expect(await stored()).toEqual({ "2026-11-21": `${direct}/${first}/${runs}` });
});

test.each<[CallClass, CallClass[], number]>([
  ["direct", ["first", "runs"], 3],
  ["runs", ["direct", "first"], 5],
  ["first", ["runs", "direct"], 0],
])("%s calls keep their reserve while %j take all they can", async (callClass, greedy, floor) => {
  const calls = replica();
  for (const each of greedy) await take(calls, each, 20);
  expect(calls.isUsedUp("p", callClass)).toBe(floor === 0);
  expect(await take(calls, callClass, 20)).toBe(floor);
  expect(calls.isUsedUp("p", callClass)).toBe(true);
});

test("a refusal is known without another look at the database, until the day ends", async () => {
  const calls = replica();
  await take(calls, "first", 3);
  expect(callClasses.filter((each) => calls.isUsedUp("p", each))).toEqual(["first"]);
  time = new Date(time.getTime() + MINUTE_MS);
  expect(callClasses.filter((each) => calls.isUsedUp("p", each))).toEqual([]);
  expect(await take(calls, "first", 3)).toBe(2);
});

test.each([
  ["a month", "2026-11-30", "2026-12-01"],
  ["a year", "2026-12-31", "2027-01-01"],
  ["the day on which clocks are set back in Washington", "2026-11-01", "2026-11-02"],
])("a new quota begins at midnight UTC after %s", async (_of, day, next) => {
  time = new Date(`${day}T23:59:59.999Z`);
  const [one, other] = [replica(), replica()];
  expect(await take([one, other], "runs", 20)).toBe(7);
  time = new Date(`${next}T00:00:00Z`);
  expect(await take(one, "runs", 3)).toBe(3);
  expect(await take(other, "runs", 20)).toBe(4);
  expect(await other.today("p")).toMatchObject({ runs: 7, quota: 10 });
  expect(await stored()).toEqual({ [day]: "0/0/7", [next]: "0/0/7" });
});

test("a new key starts with its own count, with its own quota, also while replicas use the old one", async () => {
  const old = replica();
  await take(old, "direct", 5);
  const changed = replica({ fingerprint: "key2", quota: 100 });
  expect(changed.isUsedUp("p", "direct")).toBe(false);
  expect(await take([changed], "direct", 60)).toBe(50);
  expect(await take(old, "direct", 1)).toBe(0);
  expect(await take(old, "runs", 1)).toBe(1);
  expect(await stored("key2")).toEqual({ "2026-11-21": "50/0/0" });
  expect(await stored()).toEqual({ "2026-11-21": "5/0/1" });
});

test("a larger quota of the same key counts immediately", async () => {
  await take(replica(), "direct", 5);
  expect(await take(replica({ quota: 12 }), "direct", 5)).toBe(1);
});

test("while the database is unavailable, calls are allowed, and the counts are those that were seen", async () => {
  const away = new MongoClient("mongodb://127.0.0.1:1/", { serverSelectionTimeoutMS: 20 });
  try {
    const calls = replica({ of: away.db("away") });
    expect(await take(calls, "first", 5)).toBe(5);
    expect(await calls.today("p")).toEqual({ direct: 0, first: 0, runs: 0, quota: 10 });
  } finally {
    await away.close();
  }
});

test("without a configured quota nothing is counted", async () => {
  const calls = createProviderCalls({
    db,
    accounts: { p: { fingerprint: "key1", quota: undefined } },
    now: () => time,
    logger,
    limit: (work) => work,
  });
  for (const provider of ["p", "without_a_key"]) {
    expect(await calls.take(provider, "direct")).toBe(true);
    expect(await calls.today(provider)).toBeUndefined();
  }
  expect(await providerCallsOf(db).countDocuments()).toBe(0);
});
