import { ServiceError } from "@vvs/errors";

/**
 * What a user is in the organization: an owner may do everything, a developer everything but what is about members and
 * the plan, and who is read-only changes nothing and is shown no secret.
 */
export const roles = ["owner", "developer", "read_only"] as const;

export type Role = (typeof roles)[number];

function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text);
}

/** Errors: invalid_request. */
export function checkedRole(role: string): Role {
  if (isRole(role)) return role;
  throw new ServiceError("invalid_request", {
    details: [{ path: "role", message: `must be one of ${roles.join(", ")}` }],
  });
}
