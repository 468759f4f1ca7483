import { expect, test } from "@jest/globals";
import { createFairRing } from "./fair-ring.ts";

/** Members are "<group><number>". */
function turns(members: readonly string[], again: (member: string) => boolean = () => false): string {
  const ring = createFairRing<string>((member) => member[0]!);
  for (const member of members) ring.add(member);
  const order: string[] = [];
  for (let member = ring.next(); member !== undefined && order.length < 12; member = ring.next()) {
    order.push(member);
    if (again(member)) ring.add(member);
  }
  return order.join(" ");
}

test.each([
  ["of one group take turns", ["a1", "a2", "a3"], "a1 a2 a3"],
  ["of groups take turns by group", ["a1", "a2", "a3", "b1", "c1"], "a1 b1 c1 a2 a3"],
  ["that are added twice have one turn", ["a1", "a1", "b1"], "a1 b1"],
  ["of an empty ring", [], ""],
])("members %s", (_rule, members, order) => {
  expect(turns(members)).toBe(order);
});

test("a group of many members gets no more turns than one of few", () => {
  const order = turns(["a1", "a2", "a3", "b1"], () => true);
  expect(order).toBe("a1 b1 a2 b1 a3 b1 a1 b1 a2 b1 a3 b1");
});
