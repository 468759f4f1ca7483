import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import { memberOf } from "../members/membership.ts";
import { defaultChoice, type NotificationChoice, onlyKinds } from "../model/notifications.ts";
import type { Basics } from "../parts.ts";
import type { Caller } from "../sessions/callers-by-session.ts";
import { dueAt } from "./due.ts";
import type { Subscriber, UnsubscribeLinks } from "./unsubscribe-links.ts";

/** What each member chose to be notified of. */
export function createNotificationSettings({ client, store, links }: Basics & { links: UnsubscribeLinks }) {
  /** Stores a choice, which also holds for what waits already. */
  async function save(session: ClientSession, of: Subscriber, choice: NotificationChoice): Promise<void> {
    const { _id, organization_id } = of;
    const replacement = { organization_id, frequency: choice.frequency, kinds: choice.kinds };
    await store.notificationSettings.replaceOne({ _id }, replacement, { session, upsert: true });
    const pending = await store.pendingNotifications.findOne({ _id }, { session });
    if (!pending) return;
    const { listed, counts } = onlyKinds(pending, choice.frequency === "off" ? [] : choice.kinds);
    if (listed.length === 0) return void (await store.pendingNotifications.deleteOne({ _id }, { session }));
    const due_at = dueAt(pending, choice.frequency);
    await store.pendingNotifications.updateOne({ _id }, { $set: { listed, counts, due_at } }, { session });
  }

  return {
    /** Returns the caller's choice, or what applies while they made none. Errors: forbidden. */
    async get(caller: Caller): Promise<NotificationChoice> {
      const { _id, role } = await memberOf(store, caller);
      return (await store.notificationSettings.findOne({ _id })) ?? defaultChoice(role);
    },

    /** Replaces the caller's choice. Errors: forbidden, unauthorized. */
    async set(caller: Caller, choice: NotificationChoice): Promise<void> {
      await inTransaction(client, async (session) => {
        await save(session, await memberOf(store, caller, session), choice);
      });
    },

    /** Turns the emails off for the member of a link. Repeatable. Errors: not_found. */
    async unsubscribe(token: string): Promise<void> {
      await inTransaction(client, async (session) => {
        const user = await store.users.findOne({ _id: links.userId(token) }, { session });
        if (!user || !links.isGenuine(token, user)) {
          throw new ServiceError("not_found", { message: "This link does not work." });
        }
        const before =
          (await store.notificationSettings.findOne({ _id: user._id }, { session })) ?? defaultChoice(user.role);
        await save(session, user, { kinds: before.kinds, frequency: "off" });
      });
    },
  };
}
