import { withoutDeadline } from "@vvs/deadline";
import { orAbort } from "../../time-limit.ts";
import { ProviderError } from "../provider.ts";

/** Work in progress that several callers wait for. */
export interface SharedWork<T> {
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
