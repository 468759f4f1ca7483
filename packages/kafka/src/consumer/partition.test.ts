import { expect, test } from "@jest/globals";
import { createPartition } from "./partition.ts";

function reading(...offsets: bigint[]) {
  const partition = createPartition("topic", 0, offsets[0]!);
  for (const offset of offsets) partition.accept(offset);
  return partition;
}

test("only the contiguous prefix may be committed, as the offset after it", () => {
  const partition = reading(5n, 6n, 7n);
  expect(partition.committable()).toBeUndefined();
  partition.finish(6n);
  expect(partition.committable()).toBeUndefined();
  partition.finish(5n);
  expect(partition.committable()).toBe(7n);
  partition.finish(7n);
  expect(partition.committable()).toBe(8n);
});

test("gaps in the log (compaction, control records) delay nothing", () => {
  const partition = reading(5n, 9n);
  partition.finish(5n);
  expect(partition.committable()).toBe(9n);
  partition.finish(9n);
  expect(partition.committable()).toBe(10n);
});

test("a confirmed offset is not committed again, even if confirmations arrive out of order", () => {
  const partition = reading(0n, 1n, 2n);
  partition.finish(0n);
  partition.finish(1n);
  partition.committed(2n);
  partition.committed(1n);
  expect(partition.committable()).toBeUndefined();
  partition.finish(2n);
  expect(partition.committable()).toBe(3n);
});

test("a record in progress or done is not accepted again when the group rereads from its last commit", () => {
  const partition = reading(0n, 1n);
  partition.finish(0n);
  expect([0n, 1n, 2n].map((offset) => partition.accept(offset))).toEqual([false, false, true]);
  expect(partition.unfinished()).toBe(2);
});

test("a record below the committed offset means that the log was rewound", () => {
  const partition = reading(10n, 11n);
  partition.finish(10n);
  partition.committed(11n);
  expect(partition.isRewoundBy(11n)).toBe(false);
  expect(partition.isRewoundBy(10n)).toBe(true);
});

test("the lag counts from the completed offset to the end of the log", () => {
  const partition = reading(0n, 1n);
  partition.observeEnd(10n);
  expect(partition.lag()).toBe(10);
  partition.finish(0n);
  expect(partition.lag()).toBe(9);
});
