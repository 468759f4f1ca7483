import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { ClientSession } from "mongodb";
import type { MailQueue } from "../mail/queue.ts";
import {
  defaultChoice,
  mayKnow,
  notificationKinds,
  onlyKinds,
  type PendingNotificationsDocument,
} from "../model/notifications.ts";
import type { Basics } from "../parts.ts";
import type { NotificationEmail } from "./email.ts";
import type { UnsubscribeLinks } from "./unsubscribe-links.ts";

const POLL_MS = 5_000;
const HOUR_MS = 60 * 60_000;
/** How long what waits is kept while an organization is suspended, after the last of it. */
const KEPT_SUSPENDED_MS = 7 * 24 * HOUR_MS;

export type SendNotifications = ReturnType<typeof createSendNotifications>;

/** Queues the emails that are due. One transaction queues an email and empties what waits, so replicas send it once. */
export function createSendNotifications(
  options: Basics & { mailQueue: MailQueue; email: NotificationEmail; links: UnsubscribeLinks },
) {
  const { client, store, mailQueue, email, links, now } = options;

  /** Returns the email, or undefined if the member left or wants none, or their organization is not active. */
  async function mailOf(pending: PendingNotificationsDocument, session: ClientSession) {
    const { _id, organization_id } = pending;
    const user = await store.users.findOne({ _id, organization_id }, { session });
    const active = { _id: organization_id, status: "active" } as const;
    const organization = user && (await store.organizations.findOne(active, { session }));
    if (!organization) return undefined;
    const { frequency } = (await store.notificationSettings.findOne({ _id }, { session })) ?? defaultChoice(user.role);
    const kinds = notificationKinds.filter((kind) => mayKnow(user.role, kind));
    const known = onlyKinds(pending, kinds);
    if (frequency === "off" || known.listed.length === 0) return undefined;
    return email(known, { to: user.email, organizationName: organization.name, token: links.token(user) });
  }

  /** Returns whether an email must wait because its organization is suspended. */
  async function mustWait({ organization_id, last_at }: PendingNotificationsDocument, session: ClientSession) {
    const oldest = new Date(now().getTime() - KEPT_SUSPENDED_MS);
    if (!last_at || last_at < oldest) return false;
    const suspended = { _id: organization_id, status: "suspended" } as const;
    return (await store.organizations.findOne(suspended, { session })) !== null;
  }

  /** Queues or postpones one email that is due. Returns false if none is. */
  return async (): Promise<boolean> =>
    inTransaction(client, async (session) => {
      const due = { due_at: { $lte: now() } };
      const pending = await store.pendingNotifications.findOne(due, { session, sort: { due_at: 1 } });
      if (!pending) return false;
      const { _id, organization_id } = pending;
      const mail = await mailOf(pending, session);
      if (!mail && (await mustWait(pending, session))) {
        const later = new Date(now().getTime() + HOUR_MS);
        await store.pendingNotifications.updateOne({ _id }, { $set: { due_at: later } }, { session });
      } else if (mail) {
        const emptied = { organization_id, listed: [], counts: {}, sent_at: now() };
        await store.pendingNotifications.replaceOne({ _id }, emptied, { session });
        await mailQueue.enqueue(session, mail);
      } else await store.pendingNotifications.deleteOne({ _id }, { session });
      return true;
    });
}

/** Queues emails when they are due, until stopped. */
export function runNotificationSender(options: {
  send: SendNotifications;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { send, stopping, logger } = options;
  return superviseLoop({
    round: async () => ((await send()) ? 0 : POLL_MS),
    failure: "emails about notifications can't be queued; retrying until they can",
    recovery: "emails about notifications are queued again",
    stopping,
    logger,
  });
}
