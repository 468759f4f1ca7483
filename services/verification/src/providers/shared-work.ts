import { orAbort } from "../time-limit.ts";
import { ProviderError } from "./provider.ts";

/** Work that several callers wait for. */
export interface SharedWork<T> {
  /**
   * What the work comes to. Errors: the work's, a fault to one of its callers alone, so that one failed call counts once;
   * ProviderError `timeout` where the caller's own signal aborts first.
   */
  wait(signal: AbortSignal): Promise<T>;
  /** Every caller has gone, so the work was aborted: nobody may join it any more. */
  isAbandoned(): boolean;
}

/** Starts work that ends early only when the last of its callers has gone. */
export function shareWork<T>(start: (signal: AbortSignal) => Promise<T>): SharedWork<T> {
  const abandoned = new AbortController();
  const work = start(abandoned.signal);
  work.catch(() => undefined); // told to those who wait, if there are any
  let waiting = 0;
  let isFaultTold = false;
  const tell = (error: unknown): never => {
    if (!(error instanceof ProviderError) || !error.isFault) throw error;
    if (isFaultTold)
      throw new ProviderError(error.reason, { isFault: false, shutUntil: error.shutUntil, cause: error });
    isFaultTold = true;
    throw error;
  };
  return {
    async wait(signal) {
      waiting += 1;
      try {
        return await orAbort(work.catch(tell), signal, () => new ProviderError("timeout"));
      } finally {
        waiting -= 1;
        if (waiting === 0) abandoned.abort();
      }
    },
    isAbandoned: () => abandoned.signal.aborted,
  };
}
