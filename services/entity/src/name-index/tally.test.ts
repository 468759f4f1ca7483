import { expect, test } from "@jest/globals";
import { createTally } from "./tally.ts";

test("weights of a name add up, and the heaviest names are returned", () => {
  const tally = createTally(100);
  for (const name of [5, 1_000_005, 7, 9]) tally.add(name, 0.5);
  tally.add(7, 0.5);
  tally.add(9, 0.4);
  expect(tally.count).toBe(4);
  expect(tally.takeHeaviest(2)).toEqual([7, 9]);
});

test("names far below the greatest weight are omitted", () => {
  const tally = createTally(100);
  tally.add(1, 1);
  tally.add(2, 0.9);
  tally.add(3, 0.1);
  expect(tally.takeHeaviest(100)).toEqual([1, 2]);
});

test("names of equal weight are cut off at the limit", () => {
  const tally = createTally(100);
  for (let name = 0; name < 50; name++) tally.add(name, 0.7);
  expect(tally.takeHeaviest(20)).toHaveLength(20);
});

test("it is empty after each use and takes as many names as its capacity", () => {
  const tally = createTally(1_000);
  for (let round = 1; round <= 3; round++) {
    for (let name = 0; name < 1_000; name++) tally.add(name * 64 + round, 1);
    expect(tally.count).toBe(1_000);
    expect(new Set(tally.takeHeaviest(1_000)).size).toBe(1_000);
    expect(tally.count).toBe(0);
  }
  expect(tally.takeHeaviest(10)).toEqual([]);
});

test("weight can be added to known names only", () => {
  const tally = createTally(100);
  for (const name of [1, 2, 3]) tally.add(name, 0.5);
  for (const name of [2, 4]) tally.addToKnown(name, 0.3);
  expect(tally.count).toBe(3);
  expect(tally.takeHeaviest(1)).toEqual([2]);
});
