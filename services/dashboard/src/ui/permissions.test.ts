import { expect, test } from "@jest/globals";
import { isPermitted, type Permission, rolesThatMay } from "./permissions.ts";

const developer: readonly Permission[] = ["read", "verify", "manage_monitors", "manage_keys", "manage_webhooks"];
const all: readonly Permission[] = [...developer, "manage_members", "read_audit_log"];

test.each([
  ["owner", all],
  ["developer", developer],
  ["read_only", ["read"]],
  ["", []],
  ["constructor", []],
] as const)("%s may do %j alone", (role, permitted) => {
  expect(all.filter((permission) => isPermitted(role, permission))).toEqual(permitted);
});

test("who may do something is told with the mightiest first", () => {
  expect(rolesThatMay("manage_keys")).toEqual(["owner", "developer"]);
  expect(rolesThatMay("manage_members")).toEqual(["owner"]);
});
