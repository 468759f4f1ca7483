import type { NotificationFrequency, PendingNotificationsDocument } from "../model/notifications.ts";

const MINUTE_MS = 60_000;
/** How long nothing more must happen before an email is sent. */
const QUIET_MS = 2 * MINUTE_MS;
/**
 * How long an email waits at most for what else happens, and the time between two emails to a member. Longer than the runs of
 * the vendors that a file changed are spread over, so that a file causes one email.
 */
const LONGEST_MS = 15 * MINUTE_MS;
/** Hour of the daily email, in UTC: in the morning of the United States. */
const DAILY_HOUR = 13;

/** Returns when the email about what waits is due; undefined if nothing waits or the member wants none. */
export function dueAt(
  { first_at, last_at, sent_at }: Pick<PendingNotificationsDocument, "first_at" | "last_at" | "sent_at">,
  frequency: NotificationFrequency,
): Date | undefined {
  if (!first_at || !last_at || frequency === "off") return undefined;
  if (frequency === "daily") {
    const due = new Date(first_at);
    due.setUTCHours(DAILY_HOUR, 0, 0, 0);
    if (due <= first_at) due.setUTCDate(due.getUTCDate() + 1);
    return due;
  }
  const gathered = Math.min(last_at.getTime() + QUIET_MS, first_at.getTime() + LONGEST_MS);
  return new Date(Math.max(gathered, (sent_at?.getTime() ?? 0) + LONGEST_MS));
}
