import { type Role, secretManagers } from "./roles.ts";

/** What notifications are about, in the order in which emails list them. */
export const notificationKinds = ["excluded", "failed", "expiring", "changed", "deliveries", "keys"] as const;
export type NotificationKind = (typeof notificationKinds)[number];

export const notificationFrequencies = ["off", "now", "daily"] as const;
export type NotificationFrequency = (typeof notificationFrequencies)[number];

export interface NotificationChoice {
  readonly frequency: NotificationFrequency;
  readonly kinds: readonly NotificationKind[];
}

/** What a member chose. Absent while they chose nothing. */
export interface NotificationSettingsDocument extends NotificationChoice {
  /** usr_…. */
  readonly _id: string;
  readonly organization_id: string;
}

/** Returns the choice of a member who made none: owners hear daily, so that no organization misses that a vendor is excluded. */
export function defaultChoice(role: Role): NotificationChoice {
  return { frequency: role === "owner" ? "daily" : "off", kinds: notificationKinds };
}

/** Returns whether a role may know of a kind: only who manages API keys is notified of them. */
export const mayKnow = (role: Role, kind: NotificationKind): boolean =>
  kind !== "keys" || secretManagers.includes(role);

/** Something that happened in the live environment, in words. */
export interface Notification {
  /** Unique in the organization. */
  readonly id: string;
  readonly kind: NotificationKind;
  /** What it is about, such as a vendor's name. */
  readonly title: string;
  /** Its page in the dashboard. */
  readonly path: string;
  /** What happened. */
  readonly lines: readonly string[];
}

/** What waits for the next email to a member. It stays after the email, with what was sent. */
export interface PendingNotificationsDocument {
  /** usr_…. */
  readonly _id: string;
  readonly organization_id: string;
  /** The first of each kind. */
  readonly listed: readonly Notification[];
  /** How many there are of each kind. */
  readonly counts: Partial<Readonly<Record<NotificationKind, number>>>;
  /** When the first and the last of them came; absent while there are none. */
  readonly first_at?: Date;
  readonly last_at?: Date;
  /** When the email is due; absent while there are none. */
  readonly due_at?: Date;
  /** When the last email was queued. */
  readonly sent_at?: Date;
}

/** Returns what is left of what waits if only some kinds are wanted. */
export function onlyKinds(
  { listed, counts }: Pick<PendingNotificationsDocument, "listed" | "counts">,
  kinds: readonly NotificationKind[],
): Pick<PendingNotificationsDocument, "listed" | "counts"> {
  const wanted = kinds.filter((kind) => counts[kind] !== undefined);
  return {
    listed: listed.filter(({ kind }) => kinds.includes(kind)),
    counts: Object.fromEntries(wanted.map((kind) => [kind, counts[kind]])),
  };
}

/** A notification that took effect, so that it does so once. */
export interface GatheredNotificationDocument {
  /** `<organization>:<notification>`. */
  readonly _id: string;
  readonly at: Date;
}
