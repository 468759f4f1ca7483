/** An attempt that is held back is made after so long at the latest: within 5 minutes of its time, with some to spare. */
export const LONGEST_HOLD_MS = 4 * 60_000;

/** Until when an attempt may be held back; not before now. */
export function heldUntil(dueAt: Date, now: Date): Date {
  return new Date(Math.max(dueAt.getTime() + LONGEST_HOLD_MS, now.getTime() + 1_000));
}

/** Its endpoint can't hold it back any longer. */
export function isUrgent(dueAt: Date, now: Date): boolean {
  return now.getTime() - dueAt.getTime() >= LONGEST_HOLD_MS;
}
