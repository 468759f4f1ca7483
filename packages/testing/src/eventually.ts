import { setTimeout as wait } from "node:timers/promises";

type Found<T> = Exclude<T, false | 0 | "" | null | undefined>;

/**
 * Calls `look` every `everyMs` until it returns something truthy, and returns it. Errors: those of `look`; after
 * `timeoutMs`, one with the code of `look` in its text.
 */
export async function eventually<T>(
  look: () => T | Promise<T>,
  { timeoutMs = 30_000, everyMs = 40 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<Found<T>> {
  for (const end = performance.now() + timeoutMs; ; await wait(everyMs)) {
    const seen = await look();
    if (seen) return seen as Found<T>;
    if (performance.now() > end) throw new Error(`waited ${timeoutMs / 1_000} s for ${look}`);
  }
}
