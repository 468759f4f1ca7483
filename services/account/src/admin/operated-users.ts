import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession, MongoClient } from "mongodb";
import type { Actor, AuditLog } from "../audit/audit.ts";
import type { MailQueue } from "../mail/queue.ts";
import { deleteMember, endInvitations, isLastOwner, lockMembers } from "../organizations/membership.ts";
import { noteRemoval } from "../organizations/removed-members.ts";
import { checkedRole, type Role } from "../organizations/roles.ts";
import type { AccountStore, UserDocument } from "../store.ts";
import { normalizedEmail } from "../users/users.ts";

/** What the operator does for users who can't help themselves, and for organizations whose owner is gone. */
export interface OperatedUsers {
  /** All users of an organization, those who joined first before others. Errors: not_found (the organization). */
  list(organizationId: string): Promise<UserDocument[]>;
  /**
   * Gives a user another role; the same again changes nothing. The last owner needs a successor, who becomes an owner in
   * the same step. Errors: not_found, invalid_request (role, successor).
   */
  setRole(by: Actor, input: { email: string; role: string; successor?: string }): Promise<UserDocument>;
  /**
   * Takes a user out of their organization and ends their sessions. The last owner needs a successor, as above.
   * Errors: not_found, invalid_request (successor).
   */
  remove(by: Actor, input: { email: string; successor?: string }): Promise<UserDocument>;
  /**
   * Has sign-ins of a user who lost their authenticator app ask for the password alone, ends their sessions and tells
   * them by mail; without an app it changes nothing. Errors: not_found.
   */
  turnOffAuthenticator(by: Actor, email: string): Promise<UserDocument>;
}

export function createOperatedUsers(options: {
  client: MongoClient;
  store: AccountStore;
  audit: AuditLog;
  mailQueue: MailQueue;
  now: () => Date;
}): OperatedUsers {
  const { client, store, audit, mailQueue, now } = options;

  async function userOf(email: string, session: ClientSession): Promise<UserDocument> {
    const user = await store.users.findOne({ email: normalizedEmail(email) }, { session });
    if (!user) throw new ServiceError("not_found", { message: "There is no such user." });
    return user;
  }

  /** A user, while nobody else changes who the members of their organization are. */
  async function locked(email: string, session: ClientSession): Promise<UserDocument> {
    const user = await userOf(email, session);
    await lockMembers(store, user.organization_id, session);
    return user;
  }

  async function changeRole(by: Actor, user: UserDocument, role: Role, session: ClientSession): Promise<void> {
    await store.users.updateOne({ _id: user._id }, { $set: { role } }, { session });
    await endInvitations(store, user, session);
    const details = { from: user.role, to: role };
    const { _id: target, organization_id: organizationId } = user;
    await audit.append(session, by, { action: "member.role_changed", organizationId, target, details });
  }

  /** Makes the successor of an owner one too. Errors: invalid_request where the last owner has none. */
  async function succeed(by: Actor, user: UserDocument, email: string | undefined, session: ClientSession) {
    if (email === undefined) {
      if (await isLastOwner(store, user, session)) throw wrongSuccessor("must be named: this is the last owner");
      return;
    }
    if (user.role !== "owner") throw wrongSuccessor("is for an owner who stops being one");
    const successor = await userOf(email, session);
    if (successor._id === user._id || successor.organization_id !== user.organization_id) {
      throw wrongSuccessor("must be another member of the same organization");
    }
    if (successor.role !== "owner") await changeRole(by, successor, "owner", session);
  }

  return {
    async list(organizationId) {
      if (!(await store.organizations.findOne({ _id: organizationId }))) {
        throw new ServiceError("not_found", { message: "There is no such organization." });
      }
      return store.users.find({ organization_id: organizationId }).sort({ created_at: 1, _id: 1 }).toArray();
    },

    async setRole(by, input) {
      const role = checkedRole(input.role);
      return inTransaction(client, async (session) => {
        const user = await locked(input.email, session);
        if (role === "owner" && input.successor !== undefined)
          throw wrongSuccessor("is for an owner who stops being one");
        if (user.role === role) return user;
        await succeed(by, user, input.successor, session);
        await changeRole(by, user, role, session);
        return { ...user, role };
      });
    },

    remove: (by, input) =>
      inTransaction(client, async (session) => {
        const user = await locked(input.email, session);
        await succeed(by, user, input.successor, session);
        const at = now();
        await deleteMember(store, user, at, session);
        await noteRemoval(store, user, at, session);
        const { _id: target, organization_id: organizationId, role } = user;
        await audit.append(session, by, { action: "member.removed", organizationId, target, details: { role } });
        return user;
      }),

    turnOffAuthenticator: (by, email) =>
      inTransaction(client, async (session) => {
        const { totp, ...user } = await userOf(email, session);
        if (!totp) return user;
        await store.users.updateOne({ _id: user._id }, { $unset: { totp: true, totp_setup: true } }, { session });
        await store.sessions.deleteMany({ user_id: user._id }, { session });
        await store.secondSteps.deleteMany({ user_id: user._id }, { session });
        await audit.append(session, by, {
          action: "user.totp_disabled",
          organizationId: user.organization_id,
          target: user._id,
        });
        await mailQueue.enqueue(session, {
          kind: "authenticator_disabled",
          to: user.email,
          subject: "Your authenticator app was turned off",
          text: [
            "The operator of Vendor Verification turned your authenticator app off, and ended your sessions.",
            "Sign in with your password, and set up an app again on the page Security.",
            "If you did not ask for it, change your password at once and tell an owner of your organization.",
            "",
          ].join("\n\n"),
        });
        return user;
      }),
  };
}

function wrongSuccessor(message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path: "successor", message }] });
}
