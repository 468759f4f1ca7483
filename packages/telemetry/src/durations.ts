/** Number of classes in a histogram of durations: class n counts those below 2^n ms, the last one all longer ones. */
export const DURATION_CLASSES = 16;

/** Returns the class that counts a duration, in milliseconds. */
export function durationClass(durationMs: number): number {
  const place = durationMs < 1 ? 0 : Math.floor(Math.log2(durationMs)) + 1;
  return Math.min(place, DURATION_CLASSES - 1);
}
