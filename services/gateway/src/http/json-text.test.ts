import { expect, test } from "@jest/globals";
import { TOO_DEEP, textProblems } from "./json-text.ts";

const contradictingPaths = (text: string) => textProblems(text).map(({ path }) => path);

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
  ['{"a":{"b":1,"c":2},"a":{"c":2,"b":1}}', []],
  ['{"a":{"b":[]},"a":{"b":{}}}', ["a"]],
  ['{"a":"1","a":1}', ["a"]],
  ['{"a":1.0,"a":1}', []],
  ['{"a":{"b":1,"b":2},"a":{"b":1,"b":2}}', ["a.b", "a.b"]],
  ['{"identifiers":{"uei":"abc","uei":"ABC"}}', []],
  ['{"identifiers":{"tin":"12-3456789","tin":"123456789"}}', []],
  ['{"identifiers":{"uei":"abc","uei":"abd"},"mode":"x","mode":"y"}', ["identifiers.uei", "mode"]],
  ['[{"a":1,"a":2}]', ["[0].a"]],
  ['"a"', []],
  ["[[],{},[{}]]", []],
])("the contradictions of %s are at %j", (text, paths) => {
  expect(contradictingPaths(text)).toEqual(paths);
});

test("a text may be nested 16 levels deep, whatever brackets its strings contain", () => {
  const nested = (depth: number) => `${'{"[[[":['.repeat(depth / 2)}"[{"${"]}".repeat(depth / 2)}`;
  expect(textProblems(nested(16))).toEqual([]);
  expect(textProblems(nested(18))).toBe(TOO_DEEP);
  expect(textProblems("[".repeat(17) + "]".repeat(17))).toBe(TOO_DEEP);
  expect(textProblems("[".repeat(50_000) + "]".repeat(50_000))).toBe(TOO_DEEP);
});

test("of a body full of contradictions only the first ones are reported, and a long key is not repeated", () => {
  const twice = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1,"k${at}":2`).join(",");
  expect(contradictingPaths(`{${twice(500)}}`)).toHaveLength(100);
  const many = Array.from({ length: 5_000 }, (_, at) => `"a":${at}`).join(",");
  expect(contradictingPaths(`{${many}}`)).toEqual(["a"]);
  expect(contradictingPaths(`{"${"x".repeat(50_000)}":{${twice(1)}}}`)).toEqual(["(a key).k0"]);
});
