import { setTimeout as wait } from "node:timers/promises";

export type Quota = ReturnType<typeof createQuota>;

/**
 * Keeps calls within a limit that the service reports with each answer: how many calls are left, and in how many seconds
 * there will be more. Calls without an answer yet count as used.
 */
export function createQuota(options: {
  now: () => number;
  pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}) {
  const { now, pause = (ms, signal) => wait(ms, undefined, { signal }) } = options;
  /** Calls that may start. Until the first answer only one, to find out. */
  let left = 1;
  let isKnown = false;
  /** When there will be more, in milliseconds. */
  let moreAt = 0;
  let inFlight = 0;
  /** Called when a call has ended. */
  const waiting: (() => void)[] = [];

  return {
    /** Reads the rate limit from the headers of an answer. If the first one has none, there is no limit. */
    note(headers: Headers): void {
      const [remaining, reset] = ["x-ratelimit-remaining", "x-ratelimit-reset"].map((name) => headers.get(name) ?? "");
      const isReported = /^\d+$/.test(remaining!) && /^\d+$/.test(reset!);
      if (isKnown && !isReported) return;
      isKnown = true;
      left = isReported ? Number(remaining) : Number.POSITIVE_INFINITY;
      moreAt = isReported ? now() + Number(reset) * 1_000 : 0;
    },
    /** Waits until a call may start. Throws the reason of the signal when aborted. */
    async ready(signal: AbortSignal): Promise<void> {
      for (;;) {
        signal.throwIfAborted();
        // Once there should be more, one call finds out how much.
        if (left > inFlight || (inFlight === 0 && now() >= moreAt)) return;
        await (inFlight > 0 ? new Promise<void>((resolve) => waiting.push(resolve)) : pause(moreAt - now(), signal));
      }
    },
    /** Counts a call until it ends. */
    async track<T>(call: Promise<T>): Promise<T> {
      inFlight++;
      try {
        return await call;
      } finally {
        inFlight--;
        for (const resume of waiting.splice(0)) resume();
      }
    },
  };
}
