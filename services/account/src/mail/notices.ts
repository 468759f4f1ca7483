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
  /** Returns how many changes of the last hour, with this one, are in the audit log, up to one more than the limit. */
  function count(session: ClientSession, organizationId: string, filter: object): Promise<number> {
    const at = { $gt: new Date(now().getTime() - HOUR_MS) };
    const entries = { organization_id: organizationId, at, ...filter };
    return store.auditLog.countDocuments(entries, { session, limit: MAX_NOTICES + 1 });
  }

  return {
    /** Sends an email to the owners of an organization, and to the user who made the change. */
    async tellOwners(session: ClientSession, by: Actor, organizationId: string, change: Change): Promise<void> {
      const made = await count(session, organizationId, { action: { $in: ofOrganization } });
      if (made > MAX_NOTICES) return;
      const concerned = { organization_id: organizationId, $or: [{ role: "owner" as const }, { _id: by.actor }] };
      const people = await store.users.find(concerned, { session }).sort({ _id: 1 }).limit(MAX_OWNERS).toArray();
      const actor = people.find(({ _id }) => _id === by.actor)?.email ?? "The operator";
      const isLast = made === MAX_NOTICES;
      for (const { email } of people) {
        const request = { to: email, clientAddress: by.clientAddress, at: now() };
        await mailQueue.enqueue(session, texts.organizationChanged(request, { ...change, actor, isLast }));
      }
    },

    /** Sends a user an email about their own account. */
    async tellUser(session: ClientSession, by: Actor, user: UserDocument, change: Change): Promise<void> {
      const made = await count(session, user.organization_id, { action: { $in: ofUser }, target: user._id });
      if (made > MAX_NOTICES) return;
      const request = { to: user.email, clientAddress: by.clientAddress, at: now() };
      await mailQueue.enqueue(session, texts.accountChanged(request, { ...change, isLast: made === MAX_NOTICES }));
    },
  };
}
