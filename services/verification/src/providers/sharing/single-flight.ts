import { withoutDeadline } from "@vvs/deadline";
import { orAbort } from "../../time-limit.ts";
import { ProviderError } from "../provider.ts";

/** Work in progress that several callers wait for. */
interface SharedWork<T> {
  /** Resolves with the work's result. Errors: the work's, the same for all callers; ProviderError `timeout` when `signal` aborts. */
  wait(signal: AbortSignal): Promise<T>;
  /** Returns true when every caller has left and the work was aborted: it can no longer be joined. */
  isAbandoned(): boolean;
}

/** Starts work that is aborted only when its last caller has left. The deadline of its first caller does not apply to it. */
export function shareWork<T>(start: (signal: AbortSignal) => Promise<T>): SharedWork<T> {
  const abandoned = new AbortController();
  const work = withoutDeadline(() => start(abandoned.signal));
  work.catch(() => undefined); // reported to the callers that wait, if there are any
  let waiting = 0;
  return {
    async wait(signal) {
      waiting += 1;
      try {
        return await orAbort(work, signal, () => new ProviderError("timeout"));
      } finally {
        waiting -= 1;
        if (waiting === 0) abandoned.abort();
      }
    },
    isAbandoned: () => abandoned.signal.aborted,
  };
}

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
