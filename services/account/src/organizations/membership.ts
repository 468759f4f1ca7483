import { ServiceError } from "@vvs/errors";
import type { CallerContext } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { AccountStore, UserDocument } from "../store.ts";

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
  if (!member) throw new ServiceError("forbidden", { message: "You are not a member of this organization." });
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
  if (member.role !== "owner") throw new ServiceError("forbidden", { message: "Only owners can do this." });
  return member;
}

/** Is there no other owner? Asked in a transaction that has called `lockMembers`. */
export async function isLastOwner(
  store: AccountStore,
  { _id, organization_id, role }: UserDocument,
  session: ClientSession,
): Promise<boolean> {
  if (role !== "owner") return false;
  return (await store.users.findOne({ _id: { $ne: _id }, organization_id, role: "owner" }, { session })) === null;
}

/** Deletes a member with all that signs them in. */
export async function deleteMember(
  store: AccountStore,
  user: UserDocument,
  at: Date,
  session: ClientSession,
): Promise<void> {
  const { _id, organization_id, email } = user;
  await store.users.deleteOne({ _id }, { session });
  await store.sessions.deleteMany({ user_id: _id }, { session });
  await store.secondSteps.deleteMany({ user_id: _id }, { session });
  await store.passkeys.deleteMany({ user_id: _id }, { session });
  await store.invitations.deleteMany({ organization_id, email }, { session });
  await endInvitations(store, user, session);
  await store.formerMembers.insertOne({ _id, organization_id, email, removed_at: at }, { session });
}

/** Who is no owner any more lets nobody in any more either. */
export async function endInvitations(store: AccountStore, user: UserDocument, session: ClientSession): Promise<void> {
  const { _id: invited_by, organization_id } = user;
  await store.invitations.deleteMany({ organization_id, invited_by }, { session });
}
