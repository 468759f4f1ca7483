/**
 * What a page or a form asks of who uses it. `read` is what every member may; secrets are shown to those alone who may
 * use them.
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

/** May somebody of this role do that? A role that is not known may nothing. */
export function isPermitted(role: string, permission: Permission): boolean {
  return permissions.get(role)?.includes(permission) ?? false;
}

/** The roles that may do that, the mightiest first. */
export function rolesThatMay(permission: Permission): string[] {
  return [...permissions.keys()].filter((role) => isPermitted(role, permission));
}
