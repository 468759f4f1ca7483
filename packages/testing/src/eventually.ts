import { setTimeout as wait } from "node:timers/promises";

const EVERY_MS = 20;

/**
 * Calls `look` every 20 ms until it returns something truthy, and returns that. Errors: those of `look`; a timeout
 * after `timeoutMs` (30 s where absent), with the code of `look` in its text.
 */
export async function eventually<T>(
  look: () => T | Promise<T>,
  timeoutMs = 30_000,
): Promise<Exclude<T, false | 0 | "" | null | undefined>> {
  for (const end = performance.now() + timeoutMs; ; await wait(EVERY_MS)) {
    const seen = await look();
    if (seen) return seen as Exclude<T, false | 0 | "" | null | undefined>;
    if (performance.now() > end) throw new Error(`waited ${timeoutMs / 1_000} s for ${look}`);
  }
}
