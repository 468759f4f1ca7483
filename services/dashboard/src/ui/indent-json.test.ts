import { expect, test } from "@jest/globals";
import { indentJson } from "./indent-json.ts";

test.each(["{}", "[]", "1", '"a"', "null", '{"a":[1,{"b":[]}],"c":{}}', ' { "a" : [ ] , "b": [ 1 , 2 ] } '])(
  "%s is indented as JSON.stringify does",
  (text) => {
    expect(indentJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
  },
);

test("long numbers, escapes, duplicate keys and their order stay as written", () => {
  const text = String.raw`{"b":12345678901234567890.10,"a":"\u0041\"}{,:\\","a":1e2,"__proto__":[-0]}`;
  expect(indentJson(text)).toBe(
    String.raw`{
  "b": 12345678901234567890.10,
  "a": "\u0041\"}{,:\\",
  "a": 1e2,
  "__proto__": [
    -0
  ]
}`,
  );
});

test.each(["", "{", '{"a":1,}', "<html>", "[1] 2"])("%j is not JSON", (text) => {
  expect(indentJson(text)).toBeUndefined();
});

test("text that is nested too deeply is not indented", () => {
  expect(indentJson(`${"[".repeat(64)}1${"]".repeat(64)}`)).toContain("1");
  expect(indentJson(`${"[".repeat(65)}1${"]".repeat(65)}`)).toBeUndefined();
  expect(indentJson("[".repeat(500_000) + "]".repeat(500_000))).toBeUndefined();
});
