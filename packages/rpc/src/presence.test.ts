import { expect, test } from "@jest/globals";
import { createPresence } from "./presence.ts";

let now = 0;
const presence = createPresence(() => now);

test.each([
  ["nobody has called", "", "a", false],
  ["only itself has called", "a a", "a", false],
  ["another one called last", "a b", "a", true],
  ["another one called before it", "b a a", "a", true],
  ["it never called", "b", "a", true],
  ["two others called last", "a b c b c", "a", true],
])("an organization is beside others or not: %s", (_name, calls, organization, expected) => {
  now += 10_000;
  for (const call of calls.split(" ").filter(Boolean)) presence.see(call);
  expect(presence.isBesideOthers(organization)).toBe(expected);
});

test("another organization no longer counts a second after its last call, however many calls others make", () => {
  now += 10_000;
  presence.see("b");
  for (let call = 0; call < 10; call++) {
    expect(presence.isBesideOthers("a")).toBe(true);
    now += 100;
    presence.see("a");
  }
  expect(presence.isBesideOthers("a")).toBe(false);
});
