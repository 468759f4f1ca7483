import { expect, test } from "@jest/globals";
import { createPassedOver } from "./passed-over.ts";

/** The second in which a renewal becomes due; undefined for none. */
function secondOfRenewal(options: { most: number; changesInSecond: (second: number) => number; seconds: number }) {
  let nowMs = 1_000_000;
  const passedOver = createPassedOver({ most: options.most, now: () => nowMs });
  for (let second = 0; second < options.seconds; second++) {
    for (let count = options.changesInSecond(second); count > 0; count--) passedOver.add();
    if (passedOver.isRenewalDue()) return second;
    nowMs += 1_000;
  }
  return undefined;
}

test("a full index is rebuilt once changes have become rare", () => {
  const load = (second: number) => (second < 60 ? 1_000 : 1);
  expect(secondOfRenewal({ most: 1_000_000, changesInSecond: load, seconds: 300 })).toBe(65);
});

test("it is rebuilt during changes after it skipped the maximum number", () => {
  expect(secondOfRenewal({ most: 20_000, changesInSecond: () => 1_000, seconds: 300 })).toBe(19);
});

test("it is rebuilt after ten minutes at the latest", () => {
  expect(secondOfRenewal({ most: 1_000_000, changesInSecond: () => 100, seconds: 1_000 })).toBe(600);
});

test("a due renewal is reported once", () => {
  const passedOver = createPassedOver({ most: 1, now: () => 0 });
  passedOver.add();
  expect([passedOver.isRenewalDue(), passedOver.isRenewalDue()]).toEqual([true, false]);
});
