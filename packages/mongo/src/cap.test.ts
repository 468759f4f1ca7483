import { beforeEach, describe, expect, test } from "@jest/globals";
import { outcomeUnknown } from "@vvs/errors";
import { captureLogs, testMongo } from "@vvs/testing";
import { MongoError, ObjectId } from "mongodb";
import { type CapDocument, createCap } from "./cap.ts";
import { connectMongo } from "./client.ts";
import { inTransaction } from "./transaction.ts";

interface Thing {
  readonly _id: string;
  readonly owner: string;
  readonly ended?: true;
}

const mongo = await testMongo();
const [things, counters] = await Promise.all([
  mongo.db.createCollection<Thing>("things"),
  mongo.db.createCollection<CapDocument>("counters"),
]);
let owner: string;
beforeEach(() => {
  owner = new ObjectId().toHexString();
});

const full = new Error("full");
const truth = () => things.countDocuments({ owner, ended: { $exists: false } });
/** A cap whose recounts run `whileCounting` before they return. */
const capWith = (whileCounting: () => Promise<unknown> = async () => undefined) =>
  createCap({
    counters,
    async count() {
      const counted = await truth();
      await whileCounting();
      return counted;
    },
  });
const cap = capWith();
const within = (limit: number) => ({ limit, refusal: () => full });
const newThing = (): Thing => ({ _id: new ObjectId().toHexString(), owner });
const insert = (thing = newThing()) =>
  inTransaction(mongo.client, async (session) => {
    await things.insertOne(thing, { session });
    return thing;
  });
/** Ends a thing; resolves to undefined if it had ended before, as `freeing` expects. */
const end = async (_id: string) =>
  (await things.findOneAndUpdate({ _id, ended: { $exists: false } }, { $set: { ended: true } })) ?? undefined;
const age = (seconds: number) =>
  counters.updateOne({ _id: owner }, { $set: { changed_at: new Date(Date.now() - seconds * 1_000) } });
/** Leaves a counter as a crash does between a reservation and its transaction, or a transaction and its release. */
const leak = (count: number) => counters.updateOne({ _id: owner }, { $inc: { active: count, version: 1 } });

describe("a cap", () => {
  test("lets exactly its limit of concurrent creations from two replicas through, and aborts none of them", async () => {
    const { logger } = captureLogs();
    const stopping = new AbortController().signal;
    const other = await connectMongo({ uri: process.env.MONGODB_URI!, service: "test", logger, stopping });
    const replica = createCap({ counters: other.db(mongo.db.databaseName).collection("counters"), count: truth });
    let attempts = 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 24 }, (_, index) =>
        (index % 2 ? cap : replica).within(owner, within(20), () =>
          inTransaction(mongo.client, async (session) => {
            attempts++;
            await things.insertOne(newThing(), { session });
          }),
        ),
      ),
    );
    await other.close();
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(refused).toEqual(Array(4).fill(full));
    expect([await truth(), await cap.active(owner), attempts]).toEqual([20, 20, 20]);
  });

  test("counts things that existed before its counter", async () => {
    await insert();
    await insert();
    await cap.within(owner, within(3), insert);
    await expect(cap.within(owner, within(3), insert)).rejects.toBe(full);
    expect(await cap.active(owner)).toBe(3);
  });

  test("refuses creations over a lowered limit, and accepts them again under a raised one", async () => {
    for (let count = 0; count < 3; count++) await cap.within(owner, within(5), insert);
    await expect(cap.within(owner, within(2), insert)).rejects.toBe(full);
    await expect(cap.within(owner, within(0), insert)).rejects.toBe(full);
    await cap.within(owner, within(4), insert);
    expect(await cap.active(owner)).toBe(4);
  });

  test("is separate for each owner", async () => {
    await cap.within(owner, within(1), insert);
    owner = new ObjectId().toHexString();
    await cap.within(owner, within(1), insert);
  });
});

describe("a reservation", () => {
  test("is released when the creation is certain to have had no effect", async () => {
    const refusal = new Error("no such entity");
    await expect(cap.within(owner, within(1), () => Promise.reject(refusal))).rejects.toBe(refusal);
    const taken = await insert();
    await expect(cap.within(owner, within(9), () => insert(taken))).rejects.toMatchObject({ code: 11_000 });
    expect(await cap.active(owner)).toBe(0);
  });

  test("is kept while the outcome is unknown, which a recount then finds out", async () => {
    const unknown = outcomeUnknown(new MongoError("no answer to the commit"));
    const creation = cap.within(owner, within(1), async () => {
      await insert();
      throw unknown;
    });
    await expect(creation).rejects.toBe(unknown);
    await age(61);
    await expect(cap.within(owner, within(1), insert)).rejects.toBe(full);
    expect([await truth(), await cap.active(owner)]).toEqual([1, 1]);
  });

  test("that a crash left behind is released once the counter has not changed for 60 seconds", async () => {
    await cap.within(owner, within(2), insert);
    await leak(1);
    await age(50);
    await expect(cap.within(owner, within(2), insert)).rejects.toBe(full);
    await age(61);
    await cap.within(owner, within(2), insert);
    await expect(cap.within(owner, within(2), insert)).rejects.toBe(full);
    expect([await truth(), await cap.active(owner)]).toEqual([2, 2]);
  });

  test("that a recount has dropped is not released again", async () => {
    await cap.within(owner, within(2), insert);
    const stalled = cap.within(owner, within(2), async () => {
      await age(61);
      await cap.within(owner, within(2), insert);
      throw new Error("aborted after a minute");
    });
    await expect(stalled).rejects.toThrow("aborted");
    expect([await truth(), await cap.active(owner)]).toEqual([2, 2]);
  });
});

describe("a recount", () => {
  test("does not overwrite a counter that changed while it counted", async () => {
    const kept = await cap.within(owner, within(3), insert);
    await leak(2);
    await age(61);
    const slow = capWith(() => cap.freeing(owner, () => end(kept._id)));
    await slow.within(owner, within(3), insert);
    expect([await truth(), await cap.active(owner)]).toEqual([1, 3]);
  });

  test("is made by only one of several calls that the same counter refuses", async () => {
    await cap.within(owner, within(1), insert);
    await age(61);
    let counts = 0;
    const counting = capWith(async () => void counts++);
    const calls = Array.from({ length: 10 }, () => counting.within(owner, within(1), insert));
    for (const call of calls) await expect(call).rejects.toBe(full);
    await expect(counting.within(owner, within(1), insert)).rejects.toBe(full);
    expect(counts).toBe(1);
  });
});

describe("a place is freed", () => {
  test("once, even if many calls end the same thing", async () => {
    const ones = [await cap.within(owner, within(5), insert), await cap.within(owner, within(5), insert)];
    const ends = await Promise.all(Array.from({ length: 40 }, () => cap.freeing(owner, () => end(ones[0]!._id))));
    expect(ends.filter((ended) => ended)).toHaveLength(1);
    expect(await cap.active(owner)).toBe(1);
  });

  test("only if no recount between the end and its release has already left the thing out", async () => {
    const ended = await cap.within(owner, within(2), insert);
    await cap.within(owner, within(2), insert);
    await cap.freeing(owner, async () => {
      await end(ended._id);
      await age(61);
      await cap.within(owner, within(2), insert);
      return ended;
    });
    expect([await truth(), await cap.active(owner)]).toEqual([2, 2]);
    await expect(cap.within(owner, within(2), insert)).rejects.toBe(full);
  });
});
