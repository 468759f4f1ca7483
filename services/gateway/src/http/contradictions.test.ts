import { expect, test } from "@jest/globals";
import { contradictingPaths } from "./contradictions.ts";

test.each([
  ["{}", []],
  ['{"a":1,"b":1}', []],
  ['{"a":1,"a":1}', []],
  ['{"a":1,"a":2}', ["a"]],
  ['{"a":"x","a":"x "}', ["a"]],
  ['{ "a" : 1 , "a" : [ 1 , 2 ] }', ["a"]],
  ['{"a":{"b":1},"a":{ "b" : 1 }}', []],
  ['{"a":[{"b":1},{"b":1,"b":2}]}', ["a[1].b"]],
  ['{"a":[{"b":1},{"b":2}]}', []],
  ['{"a":"{\\"b\\":1,\\"b\\":2}"}', []],
  ['{"\\u0061":1,"a":2}', ["a"]],
  ['{"identifiers":{"uei":"abc","uei":"ABC"}}', []],
  ['{"identifiers":{"tin":"12-3456789","tin":"123456789"}}', []],
  ['{"identifiers":{"uei":"abc","uei":"abd"},"mode":"x","mode":"y"}', ["identifiers.uei", "mode"]],
  ['[{"a":1,"a":2}]', ["[0].a"]],
  ['"a"', []],
  ["[[],{},[{}]]", []],
])("the contradictions of %s are at %j", (text, paths) => {
  expect(contradictingPaths(text)).toEqual(paths);
});

test("deep nesting does not overflow the stack", () => {
  const depth = 50_000;
  expect(contradictingPaths("[".repeat(depth) + "]".repeat(depth))).toEqual([]);
});

test("a body full of contradictions is checked quickly, and only the first ones are reported", () => {
  const twice = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1,"k${at}":2`).join(",");
  expect(contradictingPaths(`{${twice(500)}}`)).toHaveLength(100);
  const many = Array.from({ length: 5_000 }, (_, at) => `"a":${at}`).join(",");
  expect(contradictingPaths(`{${many}}`)).toEqual(["a"]);
  const depth = 9_000;
  const deep = `${'{"a":'.repeat(depth)}{${many}}${"}".repeat(depth)}`;
  expect(contradictingPaths(deep)).toHaveLength(1);
});
