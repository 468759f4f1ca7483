import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { afterEffect, inTransaction } from "@vvs/mongo";
import type { CallerContext } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { AuditLog } from "../audit/audit.ts";
import type { MailLimits } from "../mail/mail-limits.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { MailTexts } from "../mail/texts.ts";
import { newSessionToken, type SessionPlace, sessionId } from "../sessions/sessions.ts";
import type { SignIns } from "../sessions/sign-in.ts";
import type { AccountStore, InvitationDocument, OrganizationDocument, UserDocument } from "../store.ts";
import { hashPassword } from "../users/passwords.ts";
import { checkedEmail, type Users } from "../users/users.ts";
import { lockMembers, ownerOf } from "./membership.ts";
import { checkedRole } from "./roles.ts";

/** How long a link is good for. */
export const INVITATION_MS = 7 * 24 * 60 * 60_000;
/** More than anybody looks through. */
const MAX_INVITATIONS = 100;

/** An invitation with who sent it, while they are a member. */
export interface SentInvitation {
  readonly invitation: InvitationDocument;
  readonly invitedByEmail?: string;
}

/** What a link is about, for who has it. */
export interface OfferedInvitation {
  readonly email: string;
  readonly organizationName: string;
  readonly role: string;
  readonly invitedByEmail?: string;
  readonly hasAccount: boolean;
}

export interface Invitations {
  /**
   * Mails a link by which its reader becomes a member. The answer does not tell whether the address has an account
   * elsewhere; the caller must be an owner.
   * Errors: forbidden, invalid_request (email, role), limit_exceeded, rate_limited.
   */
  create(caller: CallerContext, input: { email: string; role: string }): Promise<SentInvitation>;
  /** Those that were not accepted, the newest first. The caller must be an owner. Errors: forbidden. */
  list(caller: CallerContext): Promise<SentInvitation[]>;
  /** Mails a new link, which takes the place of the one before. Errors: forbidden, not_found, rate_limited. */
  resend(caller: CallerContext, invitationId: string): Promise<SentInvitation>;
  /** Errors: forbidden, not_found. */
  revoke(caller: CallerContext, invitationId: string): Promise<void>;
  /** Errors: not_found (the link was used, is over or revoked, or never was). */
  get(token: string): Promise<OfferedInvitation>;
  /**
   * Creates the member with their password, and signs them in. An address belongs to one organization alone.
   * Errors: not_found (the link), invalid_request (password; email: it has an account), rate_limited; forbidden, where
   * they are a member now whose organization signs in by its identity provider alone.
   */
  accept(input: SessionPlace & { token: string; password: string }): ReturnType<SignIns["signIn"]>;
}

export function createInvitations(options: {
  client: MongoClient;
  store: AccountStore;
  users: Pick<Users, "find" | "insert">;
  signIns: Pick<SignIns, "signIn">;
  mailLimits: MailLimits;
  mailQueue: MailQueue;
  texts: MailTexts;
  audit: AuditLog;
  now: () => Date;
}): Invitations {
  const { client, store, users, mailQueue, texts, audit, now } = options;

  /** A new link and its mail; what is stored of the link. */
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
    if (member) throw refusal("email", "is a member already");
  }

  /** An invitation of the caller's organization. Errors: not_found. */
  async function find(caller: CallerContext, id: string, session?: ClientSession): Promise<InvitationDocument> {
    const filter = { _id: id, organization_id: caller.tenant.organizationId };
    const found = await store.invitations.findOne(filter, { session });
    if (!found) throw new ServiceError("not_found", { message: "There is no such invitation." });
    return found;
  }

  /** What a link leads to, while it is good. Errors: not_found. */
  async function offered(
    token: string,
  ): Promise<{ invitation: InvitationDocument; organization: OrganizationDocument }> {
    const invitation = await store.invitations.findOne({ token_hash: sessionId(token), expires_at: { $gt: now() } });
    const filter = { _id: invitation?.organization_id ?? "", status: "active" } as const;
    const organization = invitation && (await store.organizations.findOne(filter));
    if (!organization) throw linkOver();
    return { invitation, organization };
  }

  return {
    async create(caller, input) {
      const email = checkedEmail(input.email);
      const role = checkedRole(input.role);
      const { organizationId } = caller.tenant;
      await ownerOf(store, caller);
      await options.mailLimits.count(email, caller.clientAddress ?? "");
      return inTransaction(client, async (session) => {
        const owner = await ownerOf(store, caller, session);
        await lockMembers(store, organizationId, session);
        await refuseMember(organizationId, email, session);
        const others = await store.invitations.find({ organization_id: organizationId }, { session }).toArray();
        const earlier = others.find((each) => each.email === email);
        if (earlier && earlier.expires_at > now()) throw refusal("email", "is invited already: send it again instead");
        if (earlier) await store.invitations.deleteOne({ _id: earlier._id }, { session });
        if (others.length >= MAX_INVITATIONS) throw tooMany();
        const link = await mail(session, owner, email);
        const at = now();
        const invitation = {
          _id: newId("inv", at),
          organization_id: organizationId,
          email,
          role,
          created_at: at,
          ...link,
        };
        await store.invitations.insertOne(invitation, { session });
        const entry = { action: "invitation.created", organizationId, target: invitation._id } as const;
        await audit.append(session, caller, { ...entry, details: { email, role } });
        return { invitation, invitedByEmail: owner.email };
      });
    },

    async list(caller) {
      await ownerOf(store, caller);
      const { organizationId } = caller.tenant;
      const found = await store.invitations
        .find({ organization_id: organizationId })
        .sort({ created_at: -1, _id: -1 })
        .limit(MAX_INVITATIONS)
        .toArray();
      const inviters = { _id: { $in: found.map((each) => each.invited_by) }, organization_id: organizationId };
      const emails = new Map((await store.users.find(inviters).toArray()).map(({ _id, email }) => [_id, email]));
      return found.map((invitation) => ({ invitation, invitedByEmail: emails.get(invitation.invited_by) }));
    },

    async resend(caller, invitationId) {
      await ownerOf(store, caller);
      await options.mailLimits.count((await find(caller, invitationId)).email, caller.clientAddress ?? "");
      return inTransaction(client, async (session) => {
        const owner = await ownerOf(store, caller, session);
        await lockMembers(store, owner.organization_id, session);
        const before = await find(caller, invitationId, session);
        await refuseMember(before.organization_id, before.email, session);
        const link = await mail(session, owner, before.email);
        await store.invitations.updateOne({ _id: before._id }, { $set: link }, { session });
        const { organizationId } = caller.tenant;
        const entry = { action: "invitation.resent", organizationId, target: before._id } as const;
        await audit.append(session, caller, { ...entry, details: { email: before.email } });
        return { invitation: { ...before, ...link }, invitedByEmail: owner.email };
      });
    },

    async revoke(caller, invitationId) {
      await inTransaction(client, async (session) => {
        await ownerOf(store, caller, session);
        const { _id, email } = await find(caller, invitationId, session);
        await store.invitations.deleteOne({ _id }, { session });
        const { organizationId } = caller.tenant;
        const entry = { action: "invitation.revoked", organizationId, target: _id } as const;
        await audit.append(session, caller, { ...entry, details: { email } });
      });
    },

    async get(token) {
      const { invitation, organization } = await offered(token);
      const { email, role, invited_by } = invitation;
      const [inviter, own] = await Promise.all([
        store.users.findOne({ _id: invited_by, organization_id: organization._id }),
        users.find(email),
      ]);
      const hasAccount = own !== undefined;
      return { email, role, organizationName: organization.name, invitedByEmail: inviter?.email, hasAccount };
    },

    async accept({ token, password, ...place }) {
      const { invitation, organization } = await offered(token);
      const { email, role } = invitation;
      if (await users.find(email)) throw refusal("email", "has an account already");
      const passwordHash = await hashPassword(password);
      const at = now();
      const user: UserDocument = {
        _id: newId("usr", at),
        email,
        password_hash: passwordHash,
        organization_id: organization._id,
        role,
        created_at: at,
      };
      const by = { actor: user._id, clientAddress: place.clientAddress };
      await inTransaction(client, async (session) => {
        // Of two uses at once the second finds no link any more; nor does one that was revoked or replaced meanwhile.
        const link = { _id: invitation._id, token_hash: invitation.token_hash };
        const { deletedCount } = await store.invitations.deleteOne(link, { session });
        if (deletedCount === 0) throw linkOver();
        await users.insert(session, by, user);
        const entry = { action: "invitation.accepted", organizationId: organization._id, target: user._id } as const;
        await audit.append(session, by, { ...entry, details: { role } });
      });
      return options.signIns.signIn({ email, password, ...place }).catch(afterEffect);
    },
  };
}

function linkOver(): ServiceError {
  return new ServiceError("not_found", {
    message: "This invitation has expired or was already used. Ask for a new one.",
  });
}

function tooMany(): ServiceError {
  const message = `There are ${MAX_INVITATIONS} invitations already; revoke one first.`;
  return new ServiceError("limit_exceeded", { message });
}

function refusal(path: string, message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path, message }] });
}
