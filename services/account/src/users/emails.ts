import type { AccountStore } from "../store.ts";

/** Returns the email addresses of an organization's users by their ids. */
export async function emailsOfUsers(store: AccountStore, organizationId: string): Promise<ReadonlyMap<string, string>> {
  const users = store.users.find({ organization_id: organizationId }, { projection: { email: 1 } });
  return new Map((await users.toArray()).map(({ _id, email }) => [_id, email]));
}
