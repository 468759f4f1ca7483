import { expect, test } from "@jest/globals";
import { createConcurrencyLimit, createKeyedQueues } from "./ordering.ts";

test("tasks of one key run one after another, tasks of different keys do not wait", async () => {
  const queues = createKeyedQueues();
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  queues.add("a", async () => {
    await gate.promise;
    seen.push("a1");
  });
  queues.add("a", async () => void seen.push("a2"));
  queues.add("b", async () => {
    seen.push("b1");
    gate.resolve();
  });
  await queues.idle();
  expect(seen).toEqual(["b1", "a1", "a2"]);
});

test("no more tasks run concurrently than the limit, and a failed one makes room for the next", async () => {
  const limited = createConcurrencyLimit(2);
  let running = 0;
  let most = 0;
  const results = await Promise.allSettled(
    [1, 2, 3, 4, 5].map((number) =>
      limited(async () => {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
        if (number === 2) throw new Error("two");
      }),
    ),
  );
  expect(most).toBe(2);
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
});
