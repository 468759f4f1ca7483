import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mongoProxy } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { type TestAccount, testAccount, until } from "../testing/account.ts";
import { watchChanges } from "./change-watch.ts";

let account: TestAccount;

beforeEach(async () => {
  account = await testAccount();
});

afterEach(() => account.close());

test("a MongoDB that stops answering ends the watch, which reports no caught-up state meanwhile", async () => {
  const proxy = await mongoProxy(process.env.MONGODB_URI!);
  const client = new MongoClient(proxy.uri, { serverSelectionTimeoutMS: 500 });
  let caughtUp = 0;
  const watch = watchChanges({
    db: client.db(account.domain.store.db.databaseName),
    collections: ["api_keys"],
    onChange: async () => undefined,
    onCaughtUp: () => {
      caughtUp += 1;
    },
  });
  await watch.opened;
  await until(() => caughtUp > 2);
  proxy.hold();
  const before = caughtUp;
  await expect(watch.ended).rejects.toThrow("gave no answer");
  expect(caughtUp).toBeLessThanOrEqual(before + 1);
  proxy.close();
  await client.close();
});

test("a change that can't be handled ends the watch", async () => {
  const watch = watchChanges({
    db: account.domain.store.db,
    collections: ["api_key_locks"],
    onChange: () => Promise.reject(new Error("unreadable")),
    onCaughtUp: () => undefined,
  });
  await watch.opened;
  await account.organization();
  await expect(watch.ended).rejects.toThrow("unreadable");
});

test("a stopped watch ends without an error, and only reported changes to its collections", async () => {
  const changed: string[] = [];
  const watch = watchChanges({
    db: account.domain.store.db,
    collections: ["organizations"],
    onChange: async (change) => {
      if ("ns" in change && "coll" in change.ns) changed.push(String(change.ns.coll));
    },
    onCaughtUp: () => undefined,
  });
  await watch.opened;
  await account.organization();
  await until(() => changed.length > 0);
  watch.stop();
  await watch.ended;
  expect(changed).toEqual(["organizations"]);
});
