/** Numbers of a histogram of durations: the n-th is of those below 2^n ms, the last of all longer ones. */
export const DURATION_CLASSES = 16;

/** Which number of the histogram counts a duration, in milliseconds. */
export function durationClass(durationMs: number): number {
  const place = durationMs < 1 ? 0 : Math.floor(Math.log2(durationMs)) + 1;
  return Math.min(place, DURATION_CLASSES - 1);
}
