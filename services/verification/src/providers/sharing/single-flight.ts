import { type SharedWork, shareWork } from "./shared-work.ts";

/**
 * Lets callers with the same question at the same time share one call. A call can be joined for `joinMs` milliseconds
 * after its start. Later callers start a new one, so that a call that hangs does not delay them, and so that no caller
 * gets an answer much older than its question.
 */
export function createSingleFlight<T>(options: { joinMs: number }) {
  const flights = new Map<string, { readonly startedAt: number; readonly work: SharedWork<T> }>();
  return {
    /** Joins the call in flight for the key, or starts one. Errors: the call's; ProviderError `timeout` when `signal` aborts. */
    run(key: string, signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const inFlight = flights.get(key);
      const isJoinable =
        inFlight && !inFlight.work.isAbandoned() && performance.now() - inFlight.startedAt <= options.joinMs;
      if (isJoinable) return inFlight.work.wait(signal);
      const work = shareWork(async (abandoned) => {
        try {
          return await call(abandoned);
        } finally {
          if (flights.get(key) === flight) flights.delete(key);
        }
      });
      const flight = { startedAt: performance.now(), work };
      flights.set(key, flight);
      return work.wait(signal);
    },
  };
}
