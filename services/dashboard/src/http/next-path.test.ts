import { describe, expect, test } from "@jest/globals";
import { confirmPath, HOME, nextPath, signInPath } from "./next-path.ts";

describe("the page after a sign-in", () => {
  test.each(["/live/api-keys", "/test/webhooks", "/live/api-keys/key_01jz/revoke"])(
    "%s is one of the dashboard's pages",
    (path) => {
      expect(nextPath(path)).toBe(path);
    },
  );

  test.each([
    undefined,
    "",
    "/",
    "//evil.example/live/api-keys",
    "https://evil.example/live/api-keys",
    "/\\evil.example",
    "/live/../../evil",
    "/live//evil.example",
    "/live/api-keys?next=//evil.example",
    "/live/api-keys\r\nset-cookie: a=b",
    "/live/api-keys\n",
    "javascript:alert(1)",
    "/sign-in",
    `/live/${"a".repeat(300)}`,
  ])("%j leads to the home page", (path) => {
    expect(nextPath(path)).toBe(HOME);
  });
});

test.each([
  ["GET", "/live/api-keys/key_01jz/revoke", "/sign-in?next=%2Flive%2Fapi-keys%2Fkey_01jz%2Frevoke"],
  ["POST", "/live/api-keys/key_01jz/revoke", "/sign-in?next=%2Flive%2Fapi-keys"],
  ["POST", "/test/webhooks/secret/rotate", "/sign-in?next=%2Ftest%2Fwebhooks"],
  ["POST", "/sign-out", "/sign-in"],
  ["GET", "/", "/sign-in"],
])("%s %s without a session leads to %s", (method, path, expected) => {
  expect(signInPath(method, path)).toBe(expected);
});

test.each([
  ["GET", "/live/members", "/live/security/confirm?next=%2Flive%2Fmembers"],
  ["POST", "/live/webhooks/secret/show", "/live/security/confirm?next=%2Flive%2Fwebhooks"],
])("%s %s with a password that was entered long ago leads to %s", (method, path, expected) => {
  expect(confirmPath({ path: "/live" }, method, path)).toBe(expected);
});
