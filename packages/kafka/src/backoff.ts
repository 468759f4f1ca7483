import { setTimeout as wait } from "node:timers/promises";

const FIRST_MS = 200;
const LONGEST_MS = 30_000;

/** How long to wait after the n-th failure in a row (from 1): 200 ms doubling to 30 s, each between a half and the whole. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return whole * (0.5 + random() / 2);
}

/** Waits, or returns early when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

/** What the promise comes to, or undefined when it takes longer. Errors: the promise's. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const settled = new AbortController();
  try {
    return await Promise.race([promise, pause(ms, settled.signal).then(() => undefined)]);
  } finally {
    settled.abort();
  }
}
