import type { ClientSession, Filter } from "mongodb";
import type { AccountStore, RemovedMemberDocument, UserDocument } from "../store.ts";

/** Somebody whom an identity provider vouches for, or who is about to be a member. */
interface Person extends Pick<UserDocument, "organization_id" | "email" | "identity"> {}

/**
 * Notes that a member was removed by somebody else: their identity provider may not bring them back until an owner
 * invites them.
 */
export async function noteRemoval(
  store: AccountStore,
  { _id, organization_id, email, identity }: UserDocument,
  at: Date,
  session: ClientSession,
): Promise<void> {
  await store.removedMembers.insertOne({ _id, organization_id, email, identity, removed_at: at }, { session });
}

/** Was somebody with this address, or this identity, removed from the organization? */
export async function wasRemoved(store: AccountStore, person: Person, session: ClientSession): Promise<boolean> {
  return (await store.removedMembers.findOne(samePerson(person), { session })) !== null;
}

/** Forgets that somebody was removed: they are a member again. */
export async function forgetRemoval(store: AccountStore, person: Person, session: ClientSession): Promise<void> {
  await store.removedMembers.deleteMany(samePerson(person), { session });
}

function samePerson({ organization_id, email, identity }: Person): Filter<RemovedMemberDocument> {
  const ways: Filter<RemovedMemberDocument>[] = [{ email }];
  if (identity) ways.push({ "identity.issuer": identity.issuer, "identity.subject": identity.subject });
  return { organization_id, $or: ways };
}
