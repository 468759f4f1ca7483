import { describe, expect, test } from "@jest/globals";
import { confirmedPath, confirmPath, HOME, nextPath, signInPath } from "./next-path.ts";

describe("the page after a sign-in", () => {
  test.each([
    "/live/api-keys",
    "/test/webhooks",
    "/live/api-keys/key_01jz/revoke",
    "/live/vendors?show=failed&after=acme+%26+co%7Eent_01jz",
  ])("%s is one of the dashboard's pages", (path) => {
    expect(nextPath(path)).toBe(path);
  });

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
    "/live/api-keys?next=https:\\\\evil.example",
    "/live/api-keys?a=b\r\nset-cookie: a=b",
    "/live/api-keys?a=b#c",
    "/live/api-keys?a=@evil.example",
    "/live@evil.example?a=b",
    "//evil.example?a=b",
    "/%2F/evil.example?a=b",
    "?a=b",
    `/live/vendors?legal_name=${"a".repeat(500)}`,
    "/live/api-keys\r\nset-cookie: a=b",
    "/live/api-keys\n",
    "javascript:alert(1)",
    "/sign-in",
    `/live/${"a".repeat(600)}`,
  ])("%j leads to the home page", (path) => {
    expect(nextPath(path)).toBe(HOME);
  });
});

test.each([
  ["GET", "/live/api-keys/key_01jz/revoke", "/sign-in?next=%2Flive%2Fapi-keys%2Fkey_01jz%2Frevoke"],
  ["GET", "/live/usage?key=key_01jz&day=a%26b", "/sign-in?next=%2Flive%2Fusage%3Fkey%3Dkey_01jz%26day%3Da%2526b"],
  ["GET", "/live/usage?a=<b>", "/sign-in?next=%2Flive%2Fusage"],
  ["GET", `/live/usage?a=${"b".repeat(500)}`, "/sign-in?next=%2Flive%2Fusage"],
  ["POST", "/live/usage?a=b", "/sign-in?next=%2Flive%2Fusage"],
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

test.each([
  ["/live/webhooks", "/live/webhooks?done=confirmed"],
  ["/live/webhooks?show=failed&done=set", "/live/webhooks?show=failed&done=confirmed"],
])("%s after the password was entered is %s", (page, expected) => {
  expect(confirmedPath(page)).toBe(expected);
});
