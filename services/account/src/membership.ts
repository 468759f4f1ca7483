import { ServiceError } from "@vvs/errors";
import type { CallerContext } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { AccountStore, UserDocument } from "./store.ts";

/**
 * The member on whose behalf a call is made. What is about members asks for it in its own transaction, so that a role
 * that was taken away meanwhile counts no more, whatever the caller's page has seen. Errors: forbidden.
 */
export async function memberOf(
  store: AccountStore,
  { tenant, actor }: CallerContext,
  session?: ClientSession,
): Promise<UserDocument> {
  const member = await store.users.findOne({ _id: actor, organization_id: tenant.organizationId }, { session });
  if (!member) throw new ServiceError("forbidden", { message: "You are no member of this organization." });
  return member;
}

/** Has of two transactions that change who an organization's members are the second look again. */
export async function lockMembers(store: AccountStore, organizationId: string, session: ClientSession): Promise<void> {
  await store.memberLocks.updateOne({ _id: organizationId }, { $inc: { changes: 1 } }, { session, upsert: true });
}

/** The owner on whose behalf a call is made. Errors: forbidden. */
export async function ownerOf(
  store: AccountStore,
  caller: CallerContext,
  session?: ClientSession,
): Promise<UserDocument> {
  const member = await memberOf(store, caller, session);
  if (member.role !== "owner") throw new ServiceError("forbidden", { message: "Owners alone can do this." });
  return member;
}

/** Who is no owner any more lets nobody in any more either. */
export async function endInvitations(store: AccountStore, user: UserDocument, session: ClientSession): Promise<void> {
  const { _id: invited_by, organization_id } = user;
  await store.invitations.deleteMany({ organization_id, invited_by }, { session });
}
