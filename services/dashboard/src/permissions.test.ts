import { expect, test } from "@jest/globals";
import { isPermitted, type Permission } from "./permissions.ts";

const all: readonly Permission[] = ["read", "verify", "manage_keys", "manage_webhooks"];

test.each([
  ["owner", all],
  ["developer", all],
  ["read_only", ["read"]],
  ["", []],
  ["constructor", []],
] as const)("%s may do %j alone", (role, permitted) => {
  expect(all.filter((permission) => isPermitted(role, permission))).toEqual(permitted);
});
