import { expect, test } from "@jest/globals";
import { test as testView } from "./environments.ts";
import { isPermitted, type Permission, permissionHint } from "./roles.ts";

const developer: readonly Permission[] = ["read", "verify", "manage_monitors", "manage_keys", "manage_webhooks"];
const all: readonly Permission[] = [...developer, "manage_members", "read_audit_log"];

test.each([
  ["owner", all],
  ["developer", developer],
  ["read_only", ["read"]],
  ["", []],
  ["constructor", []],
] as const)("the role %j has exactly the permissions %j", (role, permitted) => {
  expect(all.filter((permission) => isPermitted(role, permission))).toEqual(permitted);
});

test("a hint names the roles that have a permission, the most powerful first", () => {
  expect(permissionHint(testView, "manage_keys", "create keys").markup).toContain(
    "Owners and developers can create keys.",
  );
  expect(permissionHint(testView, "manage_members", "invite").markup).toContain("Owners can invite.");
});
