import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { mapInSlices, oneSlicePerLoop } from "./in-slices.ts";

test("a long computation lets other calls run in between, and keeps the order of its results", async () => {
  const order: string[] = [];
  let ms = 0;
  setImmediate(() => order.push("another call"));
  const mapping = mapInSlices(
    [1, 2, 3, 4],
    (item, index) => {
      ms += 1;
      order.push(`item ${item}`);
      return item * 10 + index;
    },
    nextTurn,
    () => ms,
  );
  expect(await mapping).toEqual([10, 21, 32, 43]);
  expect(order).toEqual(["item 1", "item 2", "another call", "item 3", "item 4"]);
});

test("a short one ends without interruption", async () => {
  let interrupted = false;
  setImmediate(() => {
    interrupted = true;
  });
  expect(
    await mapInSlices(
      [1, 2],
      (item) => item,
      nextTurn,
      () => 0,
    ),
  ).toEqual([1, 2]);
  expect(interrupted).toBe(false);
});

test("of many computations, one slice runs in each turn of the event loop", async () => {
  const turn = oneSlicePerLoop();
  const slices: number[] = [];
  let loops = 0;
  const count = () => {
    loops++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  let ms = 0;
  const compute = () =>
    mapInSlices(
      [1, 2, 3],
      () => void slices.push(loops),
      turn,
      () => (ms += 2),
    );
  await Promise.all(Array.from({ length: 10 }, compute));
  clearImmediate(counting);
  const later = slices.filter((loop) => loop > 0);
  expect(later).toHaveLength(20);
  expect(new Set(later).size).toBe(20);
});
