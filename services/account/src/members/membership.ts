import { ServiceError } from "@vvs/errors";
import type { ClientSession, Filter } from "mongodb";
import { type Actor, userEntry } from "../audit/audit.ts";
import { type Role, secretManagers } from "../model/roles.ts";
import type { Basics } from "../parts.ts";
import type { Caller } from "../sessions/callers-by-session.ts";
import { requireSession } from "../sessions/live-sessions.ts";
import type { AccountStore, InvitationDocument, RemovedMemberDocument, UserDocument } from "../store.ts";

/**
 * Returns the member on whose behalf a call is made. Calls about members read it in their own transaction, so that a
 * role that was taken away or a session that ended meanwhile no longer counts. Errors: forbidden, unauthorized.
 */
export async function memberOf(
  store: AccountStore,
  { tenant, actor, session: own }: Caller,
  session?: ClientSession,
): Promise<UserDocument> {
  if (own && session) await requireSession(store, own, session);
  const member = await store.users.findOne({ _id: actor, organization_id: tenant.organizationId }, { session });
  if (!member) throw new ServiceError("forbidden", { message: "You are not a member of this organization." });
  return member;
}

/** Returns the owner on whose behalf a call is made. Errors: forbidden, unauthorized. */
export async function ownerOf(store: AccountStore, caller: Caller, session?: ClientSession): Promise<UserDocument> {
  const member = await memberOf(store, caller, session);
  if (member.role !== "owner") throw new ServiceError("forbidden", { message: "Only owners can do this." });
  return member;
}

/**
 * Requires that a user who acts (usr_…) is a member who may manage API keys and webhook secrets, until the transaction is
 * committed: the write conflicts with their removal and with a change of their role. Their session must not have ended either. Other actors,
 * such as the operator, pass. Errors: forbidden, unauthorized.
 */
export async function requireSecretManager(store: AccountStore, by: Caller, session: ClientSession): Promise<void> {
  if (!by.actor.startsWith("usr_")) return;
  if (by.session) await requireSession(store, by.session, session);
  const manager = { _id: by.actor, organization_id: by.tenant.organizationId, role: { $in: secretManagers } };
  const { matchedCount } = await store.users.updateOne(manager, { $inc: { guarded_actions: 1 } }, { session });
  if (matchedCount === 0) throw new ServiceError("forbidden", { message: "Only owners and developers can do this." });
}

/** Makes two transactions that change an organization's members conflict, so that the second one reads again. */
export async function lockMembers(store: AccountStore, organizationId: string, session: ClientSession): Promise<void> {
  await store.memberLocks.updateOne({ _id: organizationId }, { $inc: { changes: 1 } }, { session, upsert: true });
}

/** Returns whether there is no other owner. Requires `lockMembers` in the same transaction. */
export async function isLastOwner(
  store: AccountStore,
  { _id, organization_id, role }: UserDocument,
  session: ClientSession,
): Promise<boolean> {
  if (role !== "owner") return false;
  return (await store.users.findOne({ _id: { $ne: _id }, organization_id, role: "owner" }, { session })) === null;
}

/** Gives a member another role, and revokes the invitations they sent: only owners may invite. */
export async function changeRole(
  options: Pick<Basics, "store" | "audit">,
  by: Actor,
  user: UserDocument,
  role: Role,
  session: ClientSession,
): Promise<void> {
  const { store, audit } = options;
  const { _id, organization_id } = user;
  await store.users.updateOne({ _id }, { $set: { role } }, { session });
  await revokeInvitations(options, by, { organization_id, invited_by: _id }, session);
  await audit.append(session, by, userEntry("member.role_changed", user, { from: user.role, to: role }));
}

/**
 * Deletes a member with everything that signs them in. The identity provider can bring back a member who left, but not
 * one whom someone else removed, until an owner invites them.
 */
export async function deleteMember(
  options: Omit<Basics, "client">,
  by: Actor,
  user: UserDocument,
  action: "member.left" | "member.removed",
  session: ClientSession,
): Promise<void> {
  const { store, audit, now } = options;
  const { _id, organization_id, email, identity } = user;
  const former = { _id, organization_id, email, removed_at: now() };
  await store.users.deleteOne({ _id }, { session });
  await store.sessions.deleteMany({ user_id: _id }, { session });
  await store.secondSteps.deleteMany({ user_id: _id }, { session });
  await store.passkeys.deleteMany({ user_id: _id }, { session });
  await store.notificationSettings.deleteOne({ _id }, { session });
  await store.pendingNotifications.deleteOne({ _id }, { session });
  await revokeInvitations(options, by, { organization_id, $or: [{ email }, { invited_by: _id }] }, session);
  await store.formerMembers.insertOne(former, { session });
  if (action === "member.removed") await store.removedMembers.insertOne({ ...former, identity }, { session });
  await audit.append(session, by, userEntry(action, user, { role: user.role }));
}

async function revokeInvitations(
  { store, audit }: Pick<Basics, "store" | "audit">,
  by: Actor,
  filter: Filter<InvitationDocument>,
  session: ClientSession,
): Promise<void> {
  const found = await store.invitations.find(filter, { session }).toArray();
  await store.invitations.deleteMany(filter, { session });
  for (const { _id: target, organization_id: organizationId, email } of found) {
    await audit.append(session, by, { action: "invitation.revoked", organizationId, target, details: { email } });
  }
}

/** A person whom an identity provider signs in, or who is about to become a member. */
type Person = Pick<UserDocument, "organization_id" | "email" | "identity">;

/** Returns whether someone with this address or this identity was removed from the organization. */
export async function wasRemoved(store: AccountStore, person: Person, session: ClientSession): Promise<boolean> {
  return (await store.removedMembers.findOne(samePerson(person), { session })) !== null;
}

/** Forgets that a person was removed, because they are a member again. */
export async function forgetRemoval(store: AccountStore, person: Person, session: ClientSession): Promise<void> {
  await store.removedMembers.deleteMany(samePerson(person), { session });
}

function samePerson({ organization_id, email, identity }: Person): Filter<RemovedMemberDocument> {
  const ways: Filter<RemovedMemberDocument>[] = [{ email }];
  if (identity) ways.push({ "identity.issuer": identity.issuer, "identity.subject": identity.subject });
  return { organization_id, $or: ways };
}
