/** The display names of the roles and what each role may do, the most powerful first. `may` continues a sentence. */
export const roleNames: Readonly<Record<string, { readonly name: string; readonly may: string }>> = {
  owner: { name: "Owner", may: "can do everything, including managing members and reading the audit log" },
  developer: {
    name: "Developer",
    may: "can run verifications and manage monitors, API keys and webhooks, including webhook secrets",
  },
  read_only: { name: "Read-only", may: "can see everything except secrets, and can change nothing" },
};

export function roleName(role: string): string {
  return Object.hasOwn(roleNames, role) ? roleNames[role]!.name : role;
}
