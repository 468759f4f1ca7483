import { expect, test } from "@jest/globals";
import { createUeiCollector } from "./uei-set.ts";

test("a set of UEIs has every added UEI, and knows which were added more than once", () => {
  const collector = createUeiCollector();
  const ueis = Array.from({ length: 3_000 }, (_, index) => `A${String(index).padStart(11, "0")}`);
  for (const uei of [...ueis, "ZZZZZZZZZZZZ", "000000000001", "ZZZZZZZZZZZZ", "000000000001", "ZZZZZZZZZZZZ"])
    collector.add(uei);
  const set = collector.finish();
  expect([...ueis, "ZZZZZZZZZZZZ", "000000000001"].every((uei) => set.has(uei))).toBe(true);
  expect(["ZZZZZZZZZZZY", "000000000000", "B00000000000"].some((uei) => set.has(uei))).toBe(false);
  expect(["000000000001", "ZZZZZZZZZZZZ", ueis[7]!].map(set.isRepeated)).toEqual([true, true, false]);
  expect([...set.repeated(1)]).toEqual([new Set(["000000000001"]), new Set(["ZZZZZZZZZZZZ"])]);
  expect([...set.repeated(10)]).toEqual([new Set(["000000000001", "ZZZZZZZZZZZZ"])]);
});
