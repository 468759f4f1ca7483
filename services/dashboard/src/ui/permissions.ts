/**
 * The permission that a page or a form requires. Every member has `read`. Webhook secrets are shown only to roles with
 * `manage_webhooks`.
 */
export type Permission =
  | "read"
  | "verify"
  | "manage_monitors"
  | "manage_keys"
  | "manage_webhooks"
  | "manage_members"
  | "read_audit_log";

const DEVELOPER: readonly Permission[] = ["read", "verify", "manage_monitors", "manage_keys", "manage_webhooks"];

const permissions: ReadonlyMap<string, readonly Permission[]> = new Map([
  ["owner", [...DEVELOPER, "manage_members", "read_audit_log"]],
  ["developer", DEVELOPER],
  ["read_only", ["read"]],
]);

/** Returns whether a role has a permission. An unknown role has none. */
export function isPermitted(role: string, permission: Permission): boolean {
  return permissions.get(role)?.includes(permission) ?? false;
}

/** Returns the roles that have a permission, the most powerful first. */
export function rolesThatMay(permission: Permission): string[] {
  return [...permissions.keys()].filter((role) => isPermitted(role, permission));
}
