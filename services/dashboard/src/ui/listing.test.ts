import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { ProblemError } from "../http/problem.ts";
import { readPosition, writePosition } from "./listing.ts";

const id = "ver_01m7ygvppkenma4hm7yf5h5159";

test("a position in a list is read back as it was written", () => {
  const position = { createdAt: timestampFromDate(new Date("2026-11-21T07:41:46.067Z")), id };
  expect(writePosition(position)).toBe(`2026-11-21T07:41:46.067Z~${id}`);
  expect(readPosition(writePosition(position), "ver")).toEqual(position);
});

test("an absent position is the beginning of the list", () => {
  expect(readPosition(undefined, "ver")).toBeUndefined();
});

test.each([
  "",
  id,
  `2026-11-21~${id}`,
  `2026-13-21T07:41:46.067Z~${id}`,
  "2026-11-21T07:41:46.067Z~ent_01m7ygvppkenma4hm7yf5h5159",
  "2026-11-21T07:41:46.067Z~",
  `2026-11-21T07:41:46.067Z~${id}~x`,
  ["2026-11-21T07:41:46.067Z", id],
])("%j is refused as a position", (text) => {
  expect(() => readPosition(text, "ver")).toThrow(ProblemError);
});
