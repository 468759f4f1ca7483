import { setTimeout as wait } from "node:timers/promises";

/** Waits for `ms` milliseconds, or until the signal is aborted. Never throws. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
