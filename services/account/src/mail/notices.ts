import type { ClientSession } from "mongodb";
import type { Actor, AuditAction } from "../audit/audit.ts";
import type { Basics } from "../parts.ts";
import type { UserDocument } from "../store.ts";
import type { Mails } from "./queue.ts";
import type { Change } from "./texts.ts";

const HOUR_MS = 60 * 60_000;
/** Maximum changes in an hour that people get an email about, so that nobody can make us send emails without end. */
export const MAX_NOTICES = 20;
const MAX_OWNERS = 100;

const ofOrganization: readonly AuditAction[] = [
  "api_key.created",
  "api_key.rolled",
  "api_key.revoked",
  "webhook_secret.set",
  "webhook_secret.rotated",
  "webhook_secret.previous_ended",
];
const ofUser: readonly AuditAction[] = ["user.passkey_added", "user.passkey_removed"];

export type Notices = ReturnType<typeof createNotices>;

/**
 * Sends people an email about what was added or changed, so that they learn of a thief. To be called in the transaction of the
 * change, after its entry in the audit log, which counts: no change can use up the limit without an email.
 */
export function createNotices({ store, mailQueue, texts, now }: Basics & Mails) {
  /** Returns the place of a change among those of the last hour, by the audit log, which has `own` entries of it. */
  async function placeOf(session: ClientSession, organizationId: string, filter: object, own: number) {
    const at = { $gt: new Date(now().getTime() - HOUR_MS) };
    const entries = { organization_id: organizationId, at, ...filter };
    const made = await store.auditLog.countDocuments(entries, { session, limit: MAX_NOTICES + own });
    return { isBeyond: made - own >= MAX_NOTICES, isLast: made >= MAX_NOTICES };
  }

  return {
    /** Sends an email to the owners of an organization, and to the user who made the change, of which there are `entries`. */
    async tellOwners(
      session: ClientSession,
      by: Actor,
      organizationId: string,
      { entries = 1, ...change }: Change & { entries?: number },
    ): Promise<void> {
      const { isBeyond, isLast } = await placeOf(session, organizationId, { action: { $in: ofOrganization } }, entries);
      if (isBeyond) return;
      const own = { organization_id: organizationId };
      const user = await store.users.findOne({ ...own, _id: by.actor }, { session });
      const owners = await store.users
        .find({ ...own, role: "owner" }, { session })
        .sort({ _id: 1 })
        .limit(MAX_OWNERS)
        .toArray();
      const actor = user?.email ?? "The operator";
      for (const email of new Set([...owners, ...(user ? [user] : [])].map(({ email }) => email))) {
        const request = { to: email, clientAddress: by.clientAddress, at: now() };
        await mailQueue.enqueue(session, texts.organizationChanged(request, { ...change, actor, isLast }));
      }
    },

    /** Sends a user an email about their own account. */
    async tellUser(session: ClientSession, by: Actor, user: UserDocument, change: Change): Promise<void> {
      // Those with a reason are announced otherwise.
      const filter = { action: { $in: ofUser }, target: user._id, "details.reason": { $exists: false } };
      const { isBeyond, isLast } = await placeOf(session, user.organization_id, filter, 1);
      if (isBeyond) return;
      const request = { to: user.email, clientAddress: by.clientAddress, at: now() };
      await mailQueue.enqueue(session, texts.accountChanged(request, { ...change, isLast }));
    },
  };
}
