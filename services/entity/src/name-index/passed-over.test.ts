import { expect, test } from "@jest/globals";
import { createPassedOver } from "./passed-over.ts";

/** Asked each second, with so many changes in each; the second in which a renewal is due, undefined within the time. */
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

test("an index that is full is built anew once changes have become few", () => {
  const load = (second: number) => (second < 60 ? 1_000 : 1);
  expect(secondOfRenewal({ most: 1_000_000, changesInSecond: load, seconds: 300 })).toBe(65);
});

test("it is built anew in the midst of changes when as many were passed over as it may miss", () => {
  expect(secondOfRenewal({ most: 20_000, changesInSecond: () => 1_000, seconds: 300 })).toBe(19);
});

test("it is built anew after ten minutes at the latest", () => {
  expect(secondOfRenewal({ most: 1_000_000, changesInSecond: () => 100, seconds: 1_000 })).toBe(600);
});

test("that is told once", () => {
  const passedOver = createPassedOver({ most: 1, now: () => 0 });
  passedOver.add();
  expect([passedOver.isRenewalDue(), passedOver.isRenewalDue()]).toEqual([true, false]);
});
