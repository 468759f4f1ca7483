/** Longest time for which an attempt is held, in milliseconds: 5 minutes are promised, and this leaves some to spare. */
export const LONGEST_HOLD_MS = 4 * 60_000;

/** Returns until when an attempt that was due at `dueAt` may be held; always later than now. */
export function heldUntil(dueAt: Date, now: Date): Date {
  return new Date(Math.max(dueAt.getTime() + LONGEST_HOLD_MS, now.getTime() + 1_000));
}

/** May the attempt no longer be held? */
export function isUrgent(dueAt: Date, now: Date): boolean {
  return now.getTime() - dueAt.getTime() >= LONGEST_HOLD_MS;
}
