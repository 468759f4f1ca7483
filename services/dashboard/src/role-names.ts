/** What people call the roles, and what each may; the mightiest first. */
export const roleNames: Readonly<Record<string, { readonly name: string; readonly may: string }>> = {
  owner: { name: "Owner", may: "everything, also who is a member, and the audit log" },
  developer: { name: "Developer", may: "verifications, monitors, API keys, webhooks and their secrets" },
  read_only: { name: "Read-only", may: "sees everything but secrets, and changes nothing" },
};

export function roleName(role: string): string {
  return Object.hasOwn(roleNames, role) ? roleNames[role]!.name : role;
}
