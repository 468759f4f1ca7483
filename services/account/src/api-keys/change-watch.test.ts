import { connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { createTestAccount, type TestAccount, until } from "../testing/account.ts";
import { watchChanges } from "./change-watch.ts";

let account: TestAccount;

beforeEach(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
});

afterEach(() => account.close());

/** A way to MongoDB that can fall silent, as a broken network does: connections stay open and nothing comes. */
async function silenceableWay() {
  const address = account.client.options.hosts[0]!;
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(address.port!, address.host!);
    for (const socket of [near, far]) socket.on("error", () => undefined);
    near.pipe(far);
    far.pipe(near);
    sockets.push(near, far);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    uri: `mongodb://127.0.0.1:${port}/?directConnection=true`,
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test("a MongoDB that stops answering ends the watch, which reports no caught-up state meanwhile", async () => {
  const way = await silenceableWay();
  const client = new MongoClient(way.uri, { serverSelectionTimeoutMS: 500 });
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
  way.silence();
  const before = caughtUp;
  await expect(watch.ended).rejects.toThrow("gave no answer");
  expect(caughtUp).toBeLessThanOrEqual(before + 1);
  way.close();
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
