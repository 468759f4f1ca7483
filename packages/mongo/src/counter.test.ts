import { beforeEach, describe, expect, test } from "@jest/globals";
import { testMongo, untilEnd } from "@vvs/testing";
import { MongoClient, ObjectId } from "mongodb";
import { calendarWindow, giveBack, take, windowFromFirst } from "./counter.ts";
import { createShares } from "./shares.ts";

interface Counter {
  readonly _id: string;
  readonly count: number;
  readonly other?: number;
  readonly ends_at?: Date;
  readonly minute?: Date;
}

const mongo = await testMongo();
const counters = mongo.db.collection<Counter>("counters");
const other = untilEnd(new MongoClient(process.env.MONGODB_URI!));
let id: string;
beforeEach(() => {
  id = new ObjectId().toHexString();
});

const upTo = (limit: number) => ({ wanted: 1, raise: { count: limit } });
const granted = async (taking: Parameters<typeof take>[2]) => (await take(counters, id, taking)).granted;
const stored = () => counters.findOne({ _id: id });

describe("a counter", () => {
  test("grants exactly its limit to any number of calls of two replicas, from the first one on", async () => {
    const replicas = [counters, other.db(mongo.db.databaseName).collection<Counter>("counters")];
    const sums = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const key = new ObjectId().toHexString();
        const taking = Array.from({ length: 40 }, (_, index) => take(replicas[index % 2]!, key, upTo(7)));
        return (await Promise.all(taking)).reduce((sum, each) => sum + each.granted, 0);
      }),
    );
    expect(sums).toEqual(Array(10).fill(7));
  });

  test("grants as many of a block as are left, and returns its document", async () => {
    expect(await take(counters, id, { ...upTo(10), wanted: 8 })).toEqual({ _id: id, count: 8, granted: 8 });
    expect(await take(counters, id, { ...upTo(10), wanted: 8 })).toEqual({ _id: id, count: 10, granted: 2 });
  });

  test("that a lower limit or an older version left beyond its limit grants nothing, and stays as it is", async () => {
    await counters.insertOne({ _id: id, count: 12 });
    expect(await granted(upTo(10))).toBe(0);
    expect(await granted({ ...upTo(14), wanted: 5 })).toBe(2);
    expect((await stored())?.count).toBe(14);
  });

  test("with two numbers grants what the tighter limit allows, and raises both by it", async () => {
    await counters.insertOne({ _id: id, count: 1, other: 3 });
    const taken = await take(counters, id, { wanted: 9, raise: { count: 10, other: { $subtract: [5, "$other"] } } });
    expect(taken).toMatchObject({ granted: 2, count: 3, other: 5 });
  });

  test("is created with its other numbers at 0 and its other fields as they are", async () => {
    const set = { day: new Date(0), owner: "$count" };
    const taken = await take(counters, id, { ...upTo(1), numbers: ["other"], set });
    expect(taken).toEqual({ _id: id, count: 1, other: 0, granted: 1, ...set });
  });

  test("gives back one of each document's number, and never less than none", async () => {
    await counters.insertOne({ _id: id, count: 1 });
    for (let times = 0; times < 2; times++) await giveBack(counters, [id, "missing"], "count");
    expect(await stored()).toEqual({ _id: id, count: 0 });
    expect(await counters.countDocuments({ _id: "missing" })).toBe(0);
  });
});

describe("a window", () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21) + seconds * 1_000);

  test("that begins with the first count keeps its end, and after it counts from 0 again", async () => {
    const windowAt = (seconds: number) => ({ number: "count", ...windowFromFirst("ends_at", at(seconds), 60_000) });
    const takeAt = (seconds: number) => take(counters, id, { ...upTo(2), window: windowAt(seconds) });
    await takeAt(10);
    expect(await takeAt(69)).toMatchObject({ granted: 1, count: 2, ends_at: at(70) });
    expect(await takeAt(69.999)).toMatchObject({ granted: 0, count: 2, ends_at: at(70) });
    expect(await takeAt(70)).toMatchObject({ granted: 1, count: 1, ends_at: at(130) });
  });

  test("of the calendar begins once, also where a replica's clock is behind", async () => {
    const takeIn = (minute: number) =>
      granted({ ...upTo(2), window: { number: "count", ...calendarWindow("minute", at(minute * 60)) } });
    expect([await takeIn(5), await takeIn(5), await takeIn(5)]).toEqual([1, 1, 0]);
    expect([await takeIn(6), await takeIn(5), await takeIn(6)]).toEqual([1, 1, 0]);
    expect((await stored())?.minute).toEqual(at(360));
  });

  test("begins again for a number that this write does not raise", async () => {
    const window = { number: "other", ...calendarWindow("minute", at(60)) };
    await counters.insertOne({ _id: id, count: 1, other: 9, minute: at(0) });
    expect(await take(counters, id, { ...upTo(9), window })).toMatchObject({ count: 2, other: 0, minute: at(60) });
  });
});

describe("of a limit that three classes share, 30 % kept for one and 50 % for another,", () => {
  const shares = createShares({ direct: 30, first: 0, runs: 50 });
  type Class = "direct" | "first" | "runs";

  test.each<[string, Class, [direct: number, first: number, runs: number], number]>([
    ["one may take all but what is kept for the other", "direct", [0, 0, 0], 50],
    ["the other may take all but what is kept for the first", "runs", [0, 0, 0], 70],
    ["a class without a reserve may take only what is kept for nobody", "first", [0, 0, 0], 20],
    ["one keeps its reserve where the others took all they could", "direct", [0, 20, 50], 30],
    ["the other does too", "runs", [50, 0, 0], 50],
    ["a class without a reserve keeps nothing", "first", [30, 0, 70], 0],
    ["a class that spent its reserve leaves the rest to the others", "direct", [0, 0, 50], 50],
    ["beyond the reserves, whoever comes first takes the last", "first", [49, 0, 50], 1],
    ["a class whose reserve is unspent is not held up by one that overspent its own", "runs", [50, 0, 49], 1],
    ["nothing is left where all is spent", "direct", [40, 10, 50], 0],
    ["nothing is left where the limit was lowered below what was spent", "runs", [90, 60, 0], 0],
  ])("%s; the database counts the same", async (_name, of, [direct, first, runs], left) => {
    expect(shares.left({ direct, first, runs }, of, 100)).toBe(left);
    const counts = { direct, first, runs };
    await counters.insertOne({ _id: id, count: 0, ...counts });
    expect(await granted({ wanted: 1_000, raise: { [of]: shares.leftIn(of, 100) } })).toBe(left);
  });

  test("a reserve is rounded down, so the only call of a limit is for whoever comes first", () => {
    const first = (of: Class) => [0, 1, 2, 10].map((limit) => shares.left({ direct: 0, first: 0, runs: 0 }, of, limit));
    expect({ direct: first("direct"), runs: first("runs") }).toEqual({ direct: [0, 1, 1, 5], runs: [0, 1, 2, 7] });
  });
});
