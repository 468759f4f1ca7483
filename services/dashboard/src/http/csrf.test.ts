import { expect, test } from "@jest/globals";
import { isOwnRequest } from "./csrf.ts";

const own = "https://dashboard.example";

test.each([
  ["GET", "cross-site", "https://evil.example", true],
  ["HEAD", undefined, undefined, true],
  ["POST", "same-origin", own, true],
  ["POST", "same-origin", "null", true],
  ["POST", "same-site", own, false],
  ["POST", "cross-site", own, false],
  ["POST", "none", undefined, false],
  ["POST", "", own, false],
  ["POST", undefined, own, true],
  ["POST", undefined, undefined, false],
  ["POST", undefined, "null", false],
  ["POST", undefined, "https://evil.example", false],
  ["POST", undefined, "http://dashboard.example", false],
  ["POST", undefined, `${own}.evil.example`, false],
  ["DELETE", "cross-site", own, false],
  ["post", "cross-site", own, false],
])("%s with Sec-Fetch-Site %s and Origin %s: own page is %s", (method, site, origin, expected) => {
  expect(isOwnRequest({ method, site, origin }, own)).toBe(expected);
});
