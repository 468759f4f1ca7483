import { expect, test } from "@jest/globals";
import { createLanes } from "./lanes.ts";

const filled = (...members: string[]) => {
  const lanes = createLanes<string>();
  for (const member of members) lanes.enter("mon_1", member);
  return lanes;
};

test("the first may be attempted, the others follow one by one", () => {
  const lanes = createLanes<string>();
  expect(["a", "b", "c"].map((member) => lanes.enter("mon_1", member))).toEqual(["head", "waits", "waits"]);
  expect(lanes.leave("mon_1")).toBe("b");
  expect(lanes.leave("mon_1")).toBe("c");
  expect(lanes.leave("mon_1")).toBeUndefined();
  expect(lanes.state("mon_1")).toBe("unknown");
});

test("monitors do not wait for each other", () => {
  const lanes = filled("a");
  expect(lanes.enter("mon_2", "b")).toBe("head");
});

test("what is taken out takes those behind it along, and later ones are refused until the store has none", () => {
  const lanes = filled("a", "b", "c");
  expect(lanes.takeOut("mon_1", "b")).toEqual(["b", "c"]);
  expect(lanes.state("mon_1")).toBe("elsewhere");
  expect(lanes.enter("mon_1", "d")).toBe("refused");
  lanes.leave("mon_1");
  lanes.noteNoneElsewhere("mon_1");
  expect(lanes.enter("mon_1", "d")).toBe("head");
});

test("one that the store said is the first may have others behind it there", () => {
  const lanes = createLanes<string>();
  lanes.enterFirst("mon_1", "a");
  expect(lanes.enter("mon_1", "b")).toBe("refused");
});

test("after a rebalance, others may have some of every monitor in hand", () => {
  const lanes = filled("a");
  lanes.noteAllElsewhere();
  expect(lanes.enter("mon_1", "b")).toBe("refused");
  expect(lanes.enter("mon_2", "c")).toBe("head");
});

test("those that wait are known", () => {
  expect([...filled("a", "b", "c").waiting()]).toEqual(["b", "c"]);
});
