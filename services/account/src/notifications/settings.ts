import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import { type Actor, userEntry } from "../audit/audit.ts";
import { memberOf } from "../members/membership.ts";
import { defaultChoice, type NotificationChoice, onlyKinds } from "../model/notifications.ts";
import type { Basics } from "../parts.ts";
import type { Caller } from "../sessions/callers-by-session.ts";
import type { UserDocument } from "../store.ts";
import { dueAt } from "./due.ts";
import type { UnsubscribeLinks } from "./unsubscribe-links.ts";

/** What each member chose to be notified of. */
export function createNotificationSettings({ client, store, audit, links }: Basics & { links: UnsubscribeLinks }) {
  /** Stores a member's choice, which also holds for what waits already, and adds a change of it to the audit log. */
  async function save(
    session: ClientSession,
    by: Actor,
    user: UserDocument,
    choice: NotificationChoice,
  ): Promise<void> {
    const { _id, organization_id } = user;
    const details = detailsOf(choice);
    if (!isDeepStrictEqual(details, detailsOf(await chosenBy(user, session)))) {
      await audit.append(session, by, userEntry("member.notifications_changed", user, details));
    }
    const replacement = { organization_id, frequency: choice.frequency, kinds: choice.kinds };
    await store.notificationSettings.replaceOne({ _id }, replacement, { session, upsert: true });
    const pending = await store.pendingNotifications.findOne({ _id }, { session });
    if (!pending) return;
    const { listed, counts } = onlyKinds(pending, choice.frequency === "off" ? [] : choice.kinds);
    if (listed.length === 0) return void (await store.pendingNotifications.deleteOne({ _id }, { session }));
    const due_at = dueAt(pending, choice.frequency);
    await store.pendingNotifications.updateOne({ _id }, { $set: { listed, counts, due_at } }, { session });
  }

  /** Returns a member's choice, or what applies while they made none. */
  async function chosenBy({ _id, role }: UserDocument, session?: ClientSession): Promise<NotificationChoice> {
    return (await store.notificationSettings.findOne({ _id }, { session })) ?? defaultChoice(role);
  }

  return {
    /** Returns the caller's choice, or what applies while they made none. Errors: forbidden. */
    async get(caller: Caller): Promise<NotificationChoice> {
      return chosenBy(await memberOf(store, caller));
    },

    /** Replaces the caller's choice. Errors: forbidden, unauthorized. */
    async set(caller: Caller, choice: NotificationChoice): Promise<void> {
      await inTransaction(client, async (session) => {
        await save(session, caller, await memberOf(store, caller, session), choice);
      });
    },

    /** Turns the emails off for the member of a link. Repeatable. Errors: not_found. */
    async unsubscribe(token: string): Promise<void> {
      await inTransaction(client, async (session) => {
        const user = await store.users.findOne({ _id: links.userId(token) }, { session });
        if (!user || !links.isGenuine(token, user)) {
          throw new ServiceError("not_found", { message: "This link does not work." });
        }
        const { kinds } = await chosenBy(user, session);
        await save(session, { actor: user._id }, user, { kinds, frequency: "off" });
      });
    },
  };
}

function detailsOf({ frequency, kinds }: NotificationChoice) {
  return { frequency, kinds: kinds.join(", ") };
}
