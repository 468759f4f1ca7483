import { expect, test } from "@jest/globals";
import { testMongo } from "@vvs/testing";
import { createExpiry } from "./expiry.ts";

const { db } = await testMongo();
const agesOf = async (name: string) => (await db.collection(name).indexes()).map((one) => one.expireAfterSeconds);

test("an age that an earlier version chose gives way to the new one", async () => {
  for (const seconds of [30, 400, 400]) {
    await createExpiry(db, "items", "at", seconds);
    expect(await agesOf("items")).toEqual([undefined, seconds]);
  }
});

test("an index that an earlier version had without expiry gets one", async () => {
  await db.collection("others").createIndex({ at: 1 });
  await createExpiry(db, "others", "at", 30);
  expect(await agesOf("others")).toEqual([undefined, 30]);
});
