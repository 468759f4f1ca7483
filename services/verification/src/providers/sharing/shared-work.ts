import { withoutDeadline } from "@vvs/deadline";
import { orAbort } from "../../time-limit.ts";
import { ProviderError } from "../provider.ts";

/** Work in progress that several callers wait for. */
export interface SharedWork<T> {
  /**
   * Resolves with the work's result. Errors: the work's, marked as a fault for only one of its callers, so that one
   * failed call counts once; ProviderError `timeout` where the caller's own signal aborts first.
   */
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
  let isFaultReported = false;
  const countFaultOnce = (error: unknown): never => {
    if (!(error instanceof ProviderError) || !error.isFault) throw error;
    if (isFaultReported)
      throw new ProviderError(error.reason, { isFault: false, shutUntil: error.shutUntil, cause: error });
    isFaultReported = true;
    throw error;
  };
  return {
    async wait(signal) {
      waiting += 1;
      try {
        return await orAbort(work.catch(countFaultOnce), signal, () => new ProviderError("timeout"));
      } finally {
        waiting -= 1;
        if (waiting === 0) abandoned.abort();
      }
    },
    isAbandoned: () => abandoned.signal.aborted,
  };
}
