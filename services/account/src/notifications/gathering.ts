import { inTransaction } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import {
  defaultChoice,
  mayKnow,
  type Notification,
  type NotificationFrequency,
  type NotificationKind,
  type PendingNotificationsDocument,
} from "../model/notifications.ts";
import type { Basics } from "../parts.ts";
import { dueAt } from "./due.ts";

/** Maximum number of notifications of a kind that an email lists; of the others it has the number. */
const MAX_LISTED = 20;
/** Maximum number of members of an organization who are notified. */
const MAX_READERS = 1_000;

interface Reader {
  readonly _id: string;
  readonly frequency: NotificationFrequency;
  readonly kinds: readonly NotificationKind[];
}

export type GatherNotifications = ReturnType<typeof createGatherNotifications>;

/** Gathers what happened in organizations for the next emails to their members. */
export function createGatherNotifications({ client, store, now }: Basics) {
  async function readersOf(organizationId: string, session: ClientSession): Promise<Reader[]> {
    const own = { organization_id: organizationId };
    const users = await store.users
      .find(own, { session, projection: { role: 1 } })
      .limit(MAX_READERS)
      .toArray();
    const chosen = await store.notificationSettings.find(own, { session }).toArray();
    const choices = new Map(chosen.map((choice) => [choice._id, choice]));
    return users
      .map(({ _id, role }) => {
        const { frequency, kinds } = choices.get(_id) ?? defaultChoice(role);
        return { _id, frequency, kinds: kinds.filter((kind) => mayKnow(role, kind)) };
      })
      .filter(({ frequency, kinds }) => frequency !== "off" && kinds.length > 0);
  }

  /** Returns the notifications that have not taken effect yet, and notes that they do. */
  async function fresh(organizationId: string, all: readonly Notification[], session: ClientSession) {
    const idOf = ({ id }: Notification) => `${organizationId}:${id}`;
    const unique = [...new Map(all.map((each) => [each.id, each])).values()];
    const known = await store.gatheredNotifications.find({ _id: { $in: unique.map(idOf) } }, { session }).toArray();
    const ids = new Set(known.map(({ _id }) => _id));
    const found = unique.filter((each) => !ids.has(idOf(each)));
    const at = now();
    const notes = found.map((each) => ({ _id: idOf(each), at }));
    if (notes.length > 0) await store.gatheredNotifications.insertMany(notes, { session });
    return found;
  }

  /** Adds the notifications that a member wants to what waits for them. */
  async function add(organizationId: string, reader: Reader, found: readonly Notification[], session: ClientSession) {
    const { _id, frequency } = reader;
    const wanted = found.filter(({ kind }) => reader.kinds.includes(kind));
    if (wanted.length === 0) return;
    const before = await store.pendingNotifications.findOne({ _id }, { session });
    const after = withMore(before ?? { _id, organization_id: organizationId, listed: [], counts: {} }, wanted, now());
    const due_at = dueAt(after, frequency);
    await store.pendingNotifications.replaceOne(
      { _id },
      { ...after, ...(due_at && { due_at }) },
      { session, upsert: true },
    );
  }

  /**
   * Gathers what happened in an organization. Each notification takes effect once, even if it is reported again. Nothing is
   * kept of a suspended organization, or where nobody wants an email.
   */
  return async (organizationId: string, notifications: readonly Notification[]): Promise<void> => {
    await inTransaction(client, async (session) => {
      const active = { _id: organizationId, status: "active" } as const;
      if (!(await store.organizations.findOne(active, { session }))) return;
      const readers = await readersOf(organizationId, session);
      if (readers.length === 0) return;
      const found = await fresh(organizationId, notifications, session);
      for (const reader of readers) await add(organizationId, reader, found, session);
    });
  };
}

function withMore(
  before: PendingNotificationsDocument,
  more: readonly Notification[],
  at: Date,
): PendingNotificationsDocument {
  const counts = { ...before.counts };
  const listed = [...before.listed];
  for (const each of more) {
    const count = counts[each.kind] ?? 0;
    if (count < MAX_LISTED) listed.push(each);
    counts[each.kind] = count + 1;
  }
  return { ...before, listed, counts, first_at: before.first_at ?? at, last_at: at };
}
