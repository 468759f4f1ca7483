import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { afterEffect, inTransaction } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import { userEntry } from "../audit/audit.ts";
import type { Mails } from "../mail/queue.ts";
import { lockMembers, ownerOf } from "../members/membership.ts";
import { checkedRole } from "../model/roles.ts";
import type { Basics } from "../parts.ts";
import { invalid, missing } from "../refusals.ts";
import type { MailLimits, SignInLimits } from "../sessions/attempt-limits.ts";
import type { Caller } from "../sessions/callers-by-session.ts";
import { newSessionToken, type SessionPlace, sessionId } from "../sessions/sessions.ts";
import type { SignIns } from "../sign-in/sign-in.ts";
import type { InvitationDocument, UserDocument } from "../store.ts";
import type { Passwords } from "../users/passwords.ts";
import { checkedEmail, emailsOfUsers, type Users } from "../users/users.ts";

/** How long a link is valid. */
export const INVITATION_MS = 7 * 24 * 60 * 60_000;
const MAX_INVITATIONS = 100;

/** An invitation, and the address of its sender while they are a member. */
export interface SentInvitation {
  readonly invitation: InvitationDocument;
  readonly invitedByEmail?: string;
}

/**
 * Invitations to become a member. Only owners may create, list, resend and revoke them (Errors: forbidden); people with
 * the link of an invitation open and accept it.
 */
export function createInvitations(
  options: Basics &
    Mails & {
      users: Pick<Users, "find" | "insert">;
      signIns: Pick<SignIns, "beginFirst">;
      passwords: Pick<Passwords, "hash">;
      mailLimits: Pick<MailLimits, "countInvitation">;
      signInLimits: Pick<SignInLimits, "countLinkUse">;
    },
) {
  const { client, store, users, mailQueue, texts, audit, now } = options;

  /** Queues the email with a new link, and returns the fields of the invitation that describe the link. */
  async function mail(session: ClientSession, by: UserDocument, email: string) {
    const token = newSessionToken();
    const at = now();
    await mailQueue.enqueue(session, texts.invitation({ to: email, at }, { token, invitedBy: by.email }));
    return {
      token_hash: sessionId(token),
      invited_by: by._id,
      sent_at: at,
      expires_at: new Date(at.getTime() + INVITATION_MS),
    };
  }

  async function refuseMember(organizationId: string, email: string, session: ClientSession): Promise<void> {
    const member = await store.users.findOne({ email, organization_id: organizationId }, { session });
    if (member) throw invalid("email", "is a member already");
  }

  /** Returns an invitation of the caller's organization. Errors: not_found. */
  async function find(caller: Caller, id: string, session?: ClientSession): Promise<InvitationDocument> {
    const filter = { _id: id, organization_id: caller.tenant.organizationId };
    const found = await store.invitations.findOne(filter, { session });
    if (!found) throw missing("invitation");
    return found;
  }

  /** Returns the invitation of a valid link, with its organization. Errors: not_found. */
  async function offered(token: string) {
    const invitation = await store.invitations.findOne({ token_hash: sessionId(token), expires_at: { $gt: now() } });
    const filter = { _id: invitation?.organization_id ?? "", status: "active" } as const;
    const organization = invitation && (await store.organizations.findOne(filter));
    if (!organization) throw linkOver();
    return { invitation, organization };
  }

  const audited = (
    session: ClientSession,
    caller: Caller,
    action: "invitation.created" | "invitation.resent" | "invitation.revoked",
    { _id, organization_id }: InvitationDocument,
    details: { email: string; role?: string },
  ) => audit.append(session, caller, { action, organizationId: organization_id, target: _id, details });

  return {
    /**
     * Sends an email with a link that makes its reader a member. The answer does not reveal whether the address has an
     * account elsewhere. Errors: also invalid_request (email, role), limit_exceeded, rate_limited.
     */
    async create(caller: Caller, input: { email: string; role: string }): Promise<SentInvitation> {
      const email = checkedEmail(input.email);
      const role = checkedRole(input.role);
      const { organizationId } = caller.tenant;
      await ownerOf(store, caller);
      await options.mailLimits.countInvitation(organizationId, email);
      return inTransaction(client, async (session) => {
        const owner = await ownerOf(store, caller, session);
        await lockMembers(store, organizationId, session);
        await refuseMember(organizationId, email, session);
        const others = await store.invitations
          .find({ organization_id: organizationId }, { session })
          .sort({ expires_at: 1 })
          .toArray();
        const earlier = others.find((each) => each.email === email);
        if (earlier && earlier.expires_at > now()) throw invalid("email", "is invited already: send it again instead");
        // One that has expired makes room.
        const replaced = earlier ?? (others.length >= MAX_INVITATIONS ? others[0] : undefined);
        if (replaced && replaced.expires_at > now()) throw tooMany();
        if (replaced) await store.invitations.deleteOne({ _id: replaced._id }, { session });
        const link = await mail(session, owner, email);
        const at = now();
        const own = { _id: newId("inv", at), organization_id: organizationId, email, role, created_at: at };
        const invitation: InvitationDocument = { ...own, ...link };
        await store.invitations.insertOne(invitation, { session });
        await audited(session, caller, "invitation.created", invitation, { email, role });
        return { invitation, invitedByEmail: owner.email };
      });
    },

    /** Returns the invitations that nobody accepted, newest first. */
    async list(caller: Caller): Promise<SentInvitation[]> {
      await ownerOf(store, caller);
      const { organizationId } = caller.tenant;
      const found = await store.invitations
        .find({ organization_id: organizationId })
        .sort({ created_at: -1, _id: -1 })
        .limit(MAX_INVITATIONS)
        .toArray();
      const emails = await emailsOfUsers(store, organizationId);
      return found.map((invitation) => ({ invitation, invitedByEmail: emails.get(invitation.invited_by) }));
    },

    /** Sends a new link, which replaces the previous one. Errors: also not_found, rate_limited. */
    async resend(caller: Caller, invitationId: string): Promise<SentInvitation> {
      await ownerOf(store, caller);
      const { organization_id, email } = await find(caller, invitationId);
      await options.mailLimits.countInvitation(organization_id, email);
      return inTransaction(client, async (session) => {
        const owner = await ownerOf(store, caller, session);
        await lockMembers(store, owner.organization_id, session);
        const before = await find(caller, invitationId, session);
        await refuseMember(before.organization_id, before.email, session);
        const link = await mail(session, owner, before.email);
        await store.invitations.updateOne({ _id: before._id }, { $set: link }, { session });
        await audited(session, caller, "invitation.resent", before, { email: before.email });
        return { invitation: { ...before, ...link }, invitedByEmail: owner.email };
      });
    },

    /** Errors: also not_found. */
    async revoke(caller: Caller, invitationId: string): Promise<void> {
      await inTransaction(client, async (session) => {
        await ownerOf(store, caller, session);
        const invitation = await find(caller, invitationId, session);
        await store.invitations.deleteOne({ _id: invitation._id }, { session });
        await audited(session, caller, "invitation.revoked", invitation, { email: invitation.email });
      });
    },

    /** Describes an invitation to a person with its link. Errors: not_found (used, expired, revoked or unknown). */
    async get(token: string) {
      const { invitation, organization } = await offered(token);
      const { email, role, invited_by } = invitation;
      const [inviter, own] = await Promise.all([
        store.users.findOne({ _id: invited_by, organization_id: organization._id }),
        users.find(email),
      ]);
      const hasAccount = own !== undefined;
      return { email, role, organizationName: organization.name, invitedByEmail: inviter?.email, hasAccount };
    },

    /**
     * Creates the member with their password, and signs them in. An address belongs to only one organization.
     * Errors: not_found (the link), invalid_request (password; email: it has an account), rate_limited; forbidden, if the
     * organization only signs in with its identity provider: the person is a member then.
     */
    async accept({ token, password, ...place }: SessionPlace & { token: string; password: string }) {
      const { invitation, organization } = await offered(token);
      const { email, role } = invitation;
      if (await users.find(email)) throw invalid("email", "has an account already");
      await options.signInLimits.countLinkUse(invitation.token_hash);
      const password_hash = await options.passwords.hash(password, "known");
      const at = now();
      const ids = { _id: newId("usr", at), organization_id: organization._id };
      const user = { ...ids, email, password_hash, role, created_at: at };
      const by = { actor: user._id, clientAddress: place.clientAddress };
      await inTransaction(client, async (session) => {
        // Of two concurrent uses the second finds no link. Neither does one that was revoked or replaced meanwhile.
        const link = { _id: invitation._id, token_hash: invitation.token_hash };
        const { deletedCount } = await store.invitations.deleteOne(link, { session });
        if (deletedCount === 0) throw linkOver();
        await users.insert(session, by, user);
        await audit.append(session, by, userEntry("invitation.accepted", user, { role }));
      });
      return options.signIns.beginFirst(user, place).catch(afterEffect);
    },
  };
}

function linkOver(): ServiceError {
  return new ServiceError("not_found", {
    message: "This invitation has expired or was already used. Ask for a new one.",
  });
}

function tooMany(): ServiceError {
  const message = `There are ${MAX_INVITATIONS} open invitations already; revoke one first.`;
  return new ServiceError("limit_exceeded", { message });
}
