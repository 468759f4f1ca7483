import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession, MongoClient } from "mongodb";
import type { Actor, AuditLog } from "./audit.ts";
import type { MailQueue } from "./mail/queue.ts";
import { endInvitations } from "./membership.ts";
import { checkedRole } from "./roles.ts";
import type { AccountStore, UserDocument } from "./store.ts";
import { normalizedEmail } from "./users.ts";

/** What the operator does for users who can't help themselves, and for organizations whose owner is gone. */
export interface OperatedUsers {
  /** All users of an organization, those who joined first before others. Errors: not_found (the organization). */
  listUsers(organizationId: string): Promise<UserDocument[]>;
  /** Gives a user another role, also to or from the last owner; the same again changes nothing. Errors: not_found, invalid_request. */
  setUserRole(by: Actor, input: { email: string; role: string }): Promise<UserDocument>;
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
}): OperatedUsers {
  const { client, store, audit, mailQueue } = options;

  async function userOf(email: string, session: ClientSession): Promise<UserDocument> {
    const user = await store.users.findOne({ email: normalizedEmail(email) }, { session });
    if (!user) throw new ServiceError("not_found", { message: "There is no such user." });
    return user;
  }

  return {
    async listUsers(organizationId) {
      if (!(await store.organizations.findOne({ _id: organizationId }))) {
        throw new ServiceError("not_found", { message: "There is no such organization." });
      }
      return store.users.find({ organization_id: organizationId }).sort({ created_at: 1, _id: 1 }).toArray();
    },

    async setUserRole(by, input) {
      const role = checkedRole(input.role);
      return inTransaction(client, async (session) => {
        const user = await userOf(input.email, session);
        if (user.role === role) return user;
        await store.users.updateOne({ _id: user._id }, { $set: { role } }, { session });
        await endInvitations(store, user, session);
        await audit.append(session, by, {
          action: "member.role_changed",
          organizationId: user.organization_id,
          target: user._id,
          details: { from: user.role, to: role },
        });
        return { ...user, role };
      });
    },

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
