import { expect, test } from "@jest/globals";
import { createMonitorOrder } from "./monitor-order.ts";

const filled = (...members: string[]) => {
  const order = createMonitorOrder<string>();
  for (const member of members) order.append("mon_1", member);
  return order;
};

test("the first may be attempted, the others follow one by one", () => {
  const order = createMonitorOrder<string>();
  expect(["a", "b", "c"].map((member) => order.append("mon_1", member))).toEqual(["head", "waits", "waits"]);
  expect(order.finish("mon_1", "a")).toBe("b");
  expect(order.finish("mon_1", "b")).toBe("c");
  expect(order.finish("mon_1", "c")).toBeUndefined();
  expect(order.state("mon_1")).toBe("unknown");
});

test("monitors do not wait for each other", () => {
  const order = filled("a");
  expect(order.append("mon_2", "b")).toBe("head");
});

test("removing one removes those behind it, and later ones are refused until the store has none", () => {
  const order = filled("a", "b", "c");
  expect(order.removeFrom("mon_1", "b")).toEqual(["b", "c"]);
  expect(order.state("mon_1")).toBe("stored");
  expect(order.append("mon_1", "d")).toBe("refused");
  order.finish("mon_1", "a");
  order.noteNoneStored("mon_1");
  expect(order.append("mon_1", "d")).toBe("head");
});

test("an attempt that outlasts its lease makes no room, as its event may have been leased again", () => {
  const order = filled("a");
  order.prepend("mon_1", "a leased again");
  expect(order.finish("mon_1", "a")).toBeUndefined();
  expect(order.finish("mon_1", "a")).toBeUndefined();
  expect(order.length("mon_1")).toBe(1);
});

test("an answer of the store from before an event was leased changes nothing", () => {
  const order = filled("a");
  order.noteStored("mon_1");
  order.noteNoneStored("mon_1");
  expect(order.append("mon_1", "b")).toBe("refused");
});

test("one that is the first in the store may have others behind it there", () => {
  const order = createMonitorOrder<string>();
  order.prepend("mon_1", "a");
  expect(order.append("mon_1", "b")).toBe("refused");
});

test("after a rebalance, other replicas may have events of every leased monitor", () => {
  const order = filled("a");
  order.noteAllStored();
  expect(order.append("mon_1", "b")).toBe("refused");
  expect(order.append("mon_2", "c")).toBe("head");
});

test("those that wait behind the first are listed", () => {
  expect([...filled("a", "b", "c").waiting()]).toEqual(["b", "c"]);
});
