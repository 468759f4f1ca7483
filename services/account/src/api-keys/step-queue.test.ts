import { expect, test } from "@jest/globals";
import { createStepQueue } from "./step-queue.ts";

test("steps come out in order, those pushed before and while someone reads", async () => {
  const queue = createStepQueue<number>(10);
  const abort = new AbortController();
  const read: number[] = [];
  queue.push(1);
  queue.push(2);
  for await (const step of queue.drain(abort.signal)) {
    read.push(step);
    if (step === 2) setImmediate(() => queue.push(3));
    if (step === 3) abort.abort();
  }
  expect(read).toEqual([1, 2, 3]);
});

test("a reader that is too slow gets an error instead of unbounded memory being held", async () => {
  const queue = createStepQueue<number>(2);
  for (const step of [1, 2, 3, 4]) queue.push(step);
  expect(queue.size).toBe(0);
  await expect(queue.drain(new AbortController().signal).next()).rejects.toThrow("unread");
});

test("an aborted reader that waits is let go", async () => {
  const abort = new AbortController();
  const next = createStepQueue<number>(2).drain(abort.signal).next();
  abort.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test("a failure reaches the reader that waits", async () => {
  const queue = createStepQueue<number>(2);
  const next = queue.drain(new AbortController().signal).next();
  queue.fail(new Error("broken"));
  await expect(next).rejects.toThrow("broken");
});
