/**
 * What a user is in the organization: an owner may do everything, a developer everything but what is about members and
 * the plan, and who is read-only changes nothing and is shown no secret.
 */
export const roles = ["owner", "developer", "read_only"] as const;

export type Role = (typeof roles)[number];

export function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text);
}
