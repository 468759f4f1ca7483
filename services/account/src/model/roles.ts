import { invalid } from "../refusals.ts";

/**
 * Roles of members. An owner may do everything, and a developer everything except managing members and the plan. A member
 * for payables verifies and monitors vendors, and sees and manages no secrets. A read-only member changes nothing and sees
 * no secrets.
 */
export const roles = ["owner", "developer", "payables", "read_only"] as const;

export type Role = (typeof roles)[number];

/** Roles that may read and replace webhook secrets, and manage API keys. */
export const secretManagers: Role[] = ["owner", "developer"];

/** Errors: invalid_request. */
export function checkedRole(role: string): Role {
  const found = roles.find((each) => each === role);
  if (!found) throw invalid("role", `must be one of ${roles.join(", ")}`);
  return found;
}
