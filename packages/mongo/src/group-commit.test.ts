import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "@jest/globals";
import { deadlineAt, underDeadline } from "@vvs/deadline";
import { testMongo } from "@vvs/testing";
import type { ClientSession } from "mongodb";
import { createGroupCommit } from "./group-commit.ts";

const mongo = await testMongo();

/** Creates a collection of items, and records the sizes of the groups that are written. */
async function groupsOf(name: string) {
  const items = mongo.db.collection<{ _id: string; fault?: boolean }>(name);
  await items.createIndex({ _id: 1 });
  const sizes: number[] = [];
  const write = async (session: ClientSession, group: readonly { _id: string; fault?: boolean }[]) => {
    sizes.push(group.length);
    await items.insertMany([...group], { session });
    if (group.some(({ fault }) => fault)) throw new Error("this one can't be");
  };
  const stored = async () => (await items.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  return { save: createGroupCommit({ client: mongo.client, write }), sizes, stored, write };
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index).padStart(3, "0"));

test("items that arrive while others are committed share a transaction, up to a maximum size", async () => {
  const { save, sizes, stored } = await groupsOf("shared");
  await Promise.all(ids(250).map((_id) => save({ _id })));
  expect(await stored()).toEqual(ids(250));
  expect(sizes.length).toBeLessThan(20);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
});

test("an item that can't be stored fails without the others, and nothing of it is stored", async () => {
  const { save, stored } = await groupsOf("faulty");
  await save({ _id: "taken" });
  const saves = [...ids(20).map((_id) => ({ _id, fault: _id === "007" })), { _id: "taken" }].map(save);
  const settled = await Promise.allSettled(saves);
  expect(settled.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([7, 20]);
  expect(await stored()).toEqual([...ids(20).filter((id) => id !== "007"), "taken"]);
});

test("when its promise resolves, an item is stored", async () => {
  const { save, stored } = await groupsOf("visible");
  await Promise.all(
    ids(30).map(async (_id) => {
      await save({ _id });
      expect(await stored()).toContain(_id);
    }),
  );
});

test("a transaction runs in the context of a call that it serves, not of one that ended before", async () => {
  const context = new AsyncLocalStorage<string>();
  const seen: [string | undefined, string[]][] = [];
  const { write } = await groupsOf("contexts");
  const save = createGroupCommit<{ _id: string }>({
    client: mongo.client,
    async write(session, group) {
      seen.push([context.getStore(), group.map(({ _id }) => _id)]);
      await write(session, group);
    },
  });
  await Promise.all(ids(12).map((_id) => context.run(_id, () => save({ _id }))));
  for (const [store, group] of seen) expect(group[0]).toBe(store);
});

/** Saves items in turns of the event loop of their own, so that each begins a transaction. */
async function savedApart(save: (item: { _id: string }) => Promise<void>, ...items: string[]) {
  const saves: Promise<void>[] = [];
  for (const _id of items) {
    saves.push(save({ _id }));
    await new Promise(setImmediate);
  }
  return saves;
}

test("a shared transaction keeps the earliest deadline: that caller is refused, the others are stored", async () => {
  const { stored, write } = await groupsOf("deadlines");
  const open = Promise.withResolvers<void>();
  const groups: string[][] = [];
  const save = createGroupCommit<{ _id: string }>({
    client: mongo.client,
    async write(session, group) {
      groups.push(group.map(({ _id }) => _id));
      await write(session, group);
      // The first two keep both places busy; a group with `short` hangs until it is refused.
      if (groups.length <= 2) await open.promise;
      if (group.some(({ _id }) => _id === "short")) await new Promise(() => undefined);
    },
  });
  const first = await savedApart(save, "first", "second");
  const short = underDeadline(deadlineAt(Date.now() + 3_000), () => save({ _id: "short" }));
  const long = underDeadline(deadlineAt(Date.now() + 30_000), () => save({ _id: "long" }));
  open.resolve();
  await Promise.all([...first, long, expect(short).rejects.toMatchObject({ code: "service_unavailable" })]);
  expect(groups[2]).toEqual(["short", "long"]);
  // `long` is retried if it conflicts with the refused transaction.
  for (const group of groups.slice(3)) expect(group).toEqual(["long"]);
  expect(await stored()).toEqual(["first", "long", "second"]);
});

test("an item that waits until its time for writes is over is refused, and never stored", async () => {
  const { stored, write } = await groupsOf("waiting");
  const open = Promise.withResolvers<void>();
  const save = createGroupCommit<{ _id: string }>({
    client: mongo.client,
    async write(session, group) {
      await open.promise;
      await write(session, group);
    },
  });
  const first = await savedApart(save, "first", "second");
  const late = underDeadline(deadlineAt(Date.now() + 500), () => save({ _id: "late" }));
  await expect(late).rejects.toMatchObject({ code: "service_unavailable", outcomeUnknown: false });
  open.resolve();
  await Promise.all(first);
  await save({ _id: "third" });
  expect(await stored()).toEqual(["first", "second", "third"]);
});
