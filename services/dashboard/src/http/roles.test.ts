import { expect, test } from "@jest/globals";
import { test as testView } from "./environments.ts";
import { type Permission, permissionHint, permits } from "./roles.ts";

const payables: readonly Permission[] = ["read", "verify", "manage_monitors"];
const developer: readonly Permission[] = [...payables, "manage_keys", "manage_webhooks"];
const all: readonly Permission[] = [...developer, "manage_members", "read_audit_log"];

test.each([
  ["owner", all],
  ["developer", developer],
  ["payables", payables],
  ["read_only", ["read"]],
  ["", []],
  ["operator", []],
  ["constructor", []],
] as const)("the role %j has exactly the permissions %j", (role, permitted) => {
  expect([...all, "operate" as const].filter((permission) => permits({ role, isOperator: false }, permission))).toEqual(
    permitted,
  );
});

test.each([
  ["read_only", "operate", true],
  ["", "operate", true],
  ["read_only", "manage_keys", false],
] as const)("an operator with the role %j has the permission %s: %j", (role, permission, expected) => {
  expect(permits({ role, isOperator: true }, permission)).toBe(expected);
});

test("a hint names the roles that have a permission, the most powerful first", () => {
  expect(permissionHint(testView, "manage_keys", "create keys").markup).toContain(
    "Owners and developers can create keys.",
  );
  expect(permissionHint(testView, "verify", "run verifications").markup).toContain(
    "Owners, developers and members for payables can run verifications.",
  );
  expect(permissionHint(testView, "manage_members", "invite").markup).toContain("Owners can invite.");
});
