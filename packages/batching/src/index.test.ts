import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "@jest/globals";
import { byKey, createBatcher } from "./index.ts";

/** Keeps each batch waiting until the test answers it. */
function heldRuns() {
  const batches: { items: readonly number[]; answer(): void; fail(error: Error): void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      batches.push({ items, answer: () => resolve(items.map((item) => `answer ${item}`)), fail: reject });
    });
  return { batches, run };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("items of one turn share a batch, and those that arrive meanwhile the next one, up to its maximum size", async () => {
  const { batches, run } = heldRuns();
  const ask = createBatcher({ run, maxSize: 3, atOnce: 1 });
  const answers = [1, 2].map(ask);
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([[1, 2]]);
  answers.push(...[3, 4, 5, 6].map(ask));
  await turn();
  expect(batches).toHaveLength(1);
  batches[0]!.answer();
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  batches[1]!.answer();
  await turn();
  batches[2]!.answer();
  expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5, 6].map((item) => `answer ${item}`));
});

test("no more batches run at the same time than allowed", async () => {
  const { batches, run } = heldRuns();
  const ask = createBatcher({ run, maxSize: 1, atOnce: 2 });
  const answers = [1, 2, 3].map(ask);
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([[1], [2]]);
  batches[1]!.answer();
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([[1], [2], [3]]);
  for (const { answer } of batches) answer();
  expect(await Promise.all(answers)).toHaveLength(3);
});

test("items of a failed batch are tried one by one, so that none fails because of another", async () => {
  const seen: (readonly number[])[] = [];
  const ask = createBatcher<number, number>({
    run: async (items) => {
      seen.push(items);
      await turn();
      if (items.includes(3)) throw new Error("not three");
      return items;
    },
    maxSize: 10,
    atOnce: 1,
  });
  const settled = await Promise.allSettled([1, 2, 3, 4].map(ask));
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect(seen).toEqual([[1, 2, 3, 4], [1], [2], [3], [4]]);
});

test("an error that applies to the whole batch rejects every item, and nothing is retried", async () => {
  const { batches, run } = heldRuns();
  const ask = createBatcher({ run, maxSize: 10, atOnce: 1, failsAll: () => true });
  const settled = Promise.allSettled([1, 2, 3].map(ask));
  await turn();
  batches[0]!.fail(new Error("away"));
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(batches).toHaveLength(1);
});

test("a batch runs in the context of a call that it serves, and each retry in its own", async () => {
  const context = new AsyncLocalStorage<number>();
  const seen: [number | undefined, readonly number[]][] = [];
  const ask = createBatcher<number, number>({
    run: async (items) => {
      seen.push([context.getStore(), items]);
      await turn();
      if (items.length > 1) throw new Error("only one");
      return items;
    },
    maxSize: 10,
    atOnce: 1,
  });
  await Promise.all([1, 2, 3].map((item) => context.run(item, () => ask(item))));
  expect(seen).toEqual([
    [1, [1, 2, 3]],
    [1, [1]],
    [2, [2]],
    [3, [3]],
  ]);
});

test("items of a batch are processed together by key, and their results keep the items' order", async () => {
  const runs: number[][] = [];
  const run = byKey(
    (item: number) => (item % 2 ? "odd" : "even"),
    async (items) => {
      runs.push([...items]);
      return items.map((item) => item * 10);
    },
  );
  const ask = createBatcher({ run, maxSize: 10, atOnce: 1 });
  expect(await Promise.all([1, 2, 3, 2].map(ask))).toEqual([10, 20, 30, 20]);
  expect(runs).toEqual([
    [1, 3],
    [2, 2],
  ]);
});
