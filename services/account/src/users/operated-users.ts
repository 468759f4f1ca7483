import { inTransaction } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import { type Actor, userEntry } from "../audit/audit.ts";
import type { MailQueue } from "../mail/queue.ts";
import { changeRole, deleteMember, isLastOwner, lockMembers } from "../members/membership.ts";
import { checkedRole } from "../model/roles.ts";
import type { Basics } from "../parts.ts";
import { invalid, missing } from "../refusals.ts";
import type { UserDocument } from "../store.ts";
import { normalizedEmail } from "./users.ts";

/** What the operator does for users who lost access, and for organizations whose last owner is gone. */
export function createOperatedUsers(options: Basics & { mailQueue: MailQueue }) {
  const { client, store, audit, mailQueue } = options;

  async function userOf(email: string, session: ClientSession): Promise<UserDocument> {
    const user = await store.users.findOne({ email: normalizedEmail(email) }, { session });
    if (!user) throw missing("user");
    return user;
  }

  /** Returns a user of an organization whose members no other transaction changes now. */
  async function locked(email: string, session: ClientSession): Promise<UserDocument> {
    const user = await userOf(email, session);
    await lockMembers(store, user.organization_id, session);
    return user;
  }

  /** Makes the successor of an owner an owner too. Errors: invalid_request if the last owner has none. */
  async function succeed(by: Actor, user: UserDocument, email: string | undefined, session: ClientSession) {
    if (email === undefined) {
      if (await isLastOwner(store, user, session)) throw invalid("successor", "must be named: this is the last owner");
      return;
    }
    if (user.role !== "owner") throw invalid("successor", "is for an owner who stops being one");
    const successor = await userOf(email, session);
    if (successor._id === user._id || successor.organization_id !== user.organization_id) {
      throw invalid("successor", "must be another member of the same organization");
    }
    if (successor.role !== "owner") await changeRole(options, by, successor, "owner", session);
  }

  return {
    /** Returns all users of an organization in the order in which they joined. Errors: not_found (the organization). */
    async list(organizationId: string): Promise<UserDocument[]> {
      if (!(await store.organizations.findOne({ _id: organizationId }))) throw missing("organization");
      return store.users.find({ organization_id: organizationId }).sort({ created_at: 1, _id: 1 }).toArray();
    },

    /**
     * Gives a user another role. Repeatable. The last owner needs a successor, who becomes an owner in the same
     * transaction. Errors: not_found, invalid_request (role, successor).
     */
    async setRole(by: Actor, input: { email: string; role: string; successor?: string }): Promise<UserDocument> {
      const role = checkedRole(input.role);
      return inTransaction(client, async (session) => {
        const user = await locked(input.email, session);
        if (role === "owner" && input.successor !== undefined)
          throw invalid("successor", "is for an owner who stops being one");
        if (user.role === role) return user;
        await succeed(by, user, input.successor, session);
        await changeRole(options, by, user, role, session);
        return { ...user, role };
      });
    },

    /**
     * Removes a user from their organization and ends their sessions. The last owner needs a successor, as above.
     * Errors: not_found, invalid_request (successor).
     */
    remove: (by: Actor, input: { email: string; successor?: string }) =>
      inTransaction(client, async (session) => {
        const user = await locked(input.email, session);
        await succeed(by, user, input.successor, session);
        await deleteMember(options, by, user, "member.removed", session);
        return user;
      }),

    /**
     * Makes a user one of the product's operators, or ends that, from their next request. Repeatable. Errors: not_found.
     */
    setOperator: (by: Actor, input: { email: string; isOperator: boolean }): Promise<UserDocument> =>
      inTransaction(client, async (session) => {
        const { is_operator, ...user } = await userOf(input.email, session);
        const [change, action, changed] = input.isOperator
          ? ([{ $set: { is_operator: true } }, "user.operator_granted", { ...user, is_operator: true }] as const)
          : ([{ $unset: { is_operator: true } }, "user.operator_revoked", user] as const);
        if (input.isOperator === (is_operator ?? false)) return changed;
        await store.users.updateOne({ _id: user._id }, change, { session });
        await audit.append(session, by, userEntry(action, user));
        return changed;
      }),

    /**
     * Turns off the authenticator app of a user who lost it, so that the password is enough, ends their sessions and
     * notifies them by email. Changes nothing if there is no app. Errors: not_found.
     */
    turnOffAuthenticator: (by: Actor, email: string): Promise<UserDocument> =>
      inTransaction(client, async (session) => {
        const { totp, ...user } = await userOf(email, session);
        if (!totp) return user;
        await store.users.updateOne({ _id: user._id }, { $unset: { totp: true, totp_setup: true } }, { session });
        await store.sessions.deleteMany({ user_id: user._id }, { session });
        await store.secondSteps.deleteMany({ user_id: user._id }, { session });
        await audit.append(session, by, userEntry("user.totp_disabled", user));
        await mailQueue.enqueue(session, {
          kind: "authenticator_disabled",
          to: user.email,
          subject: "Your authenticator app was turned off",
          text: [
            "The operator of Vendor Verification turned your authenticator app off, and ended your sessions.",
            "Sign in with your password, and set up an app again on the page Security.",
            "If you did not ask for it, change your password immediately and contact an owner of your organization.",
            "",
          ].join("\n\n"),
        });
        return user;
      }),
  };
}
