import { expect, test } from "@jest/globals";
import { testMongo } from "@vvs/testing";
import { createExpiry } from "./expiry.ts";

test("an age that an earlier version chose gives way to the new one", async () => {
  const mongo = await testMongo(process.env.MONGODB_URI!);
  try {
    const ages = async () => (await mongo.db.collection("items").indexes()).map((one) => one.expireAfterSeconds);
    for (const seconds of [30, 400, 400]) {
      await createExpiry(mongo.db, "items", "at", seconds);
      expect(await ages()).toEqual([undefined, seconds]);
    }
  } finally {
    await mongo.close();
  }
});

test("an index that an earlier version had without expiry gets one", async () => {
  const mongo = await testMongo(process.env.MONGODB_URI!);
  try {
    const items = mongo.db.collection("items");
    await items.createIndex({ at: 1 });
    await createExpiry(mongo.db, "items", "at", 30);
    expect((await items.indexes()).map((one) => one.expireAfterSeconds)).toEqual([undefined, 30]);
  } finally {
    await mongo.close();
  }
});
