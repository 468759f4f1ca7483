import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { ProblemError } from "../http/problem.ts";
import { readPlace, writePlace } from "./list-place.ts";

const id = "ver_01m7ygvppkenma4hm7yf5h5159";

test("a place in a list is read back as it was written", () => {
  const place = { createdAt: timestampFromDate(new Date("2026-11-21T07:41:46.067Z")), id };
  expect(writePlace(place)).toBe(`2026-11-21T07:41:46.067Z~${id}`);
  expect(readPlace(writePlace(place), "ver")).toEqual(place);
});

test("no place is the beginning", () => {
  expect(readPlace(undefined, "ver")).toBeUndefined();
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
])("%j is no place", (text) => {
  expect(() => readPlace(text, "ver")).toThrow(ProblemError);
});
