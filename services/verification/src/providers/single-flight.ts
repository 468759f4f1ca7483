import { type SharedWork, shareWork } from "./shared-work.ts";

/** Makes callers that ask the same at the same time share one call. */
export interface SingleFlight<T> {
  /** Joins the call under way for the key, or starts one. Errors: the call's; ProviderError `timeout` on the own signal. */
  run(key: string, signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/**
 * A call can be joined for `joinMs` after its start: later callers begin a new one, so that a call which hangs takes no
 * new ones with it, and nobody is given an answer much older than the question.
 */
export function createSingleFlight<T>(options: { joinMs: number }): SingleFlight<T> {
  const flights = new Map<string, { readonly startedAt: number; readonly work: SharedWork<T> }>();
  return {
    run(key, signal, call) {
      const underWay = flights.get(key);
      const isJoinable =
        underWay && !underWay.work.isAbandoned() && performance.now() - underWay.startedAt <= options.joinMs;
      if (isJoinable) return underWay.work.wait(signal);
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
