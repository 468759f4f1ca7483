/** A span of time that ends by itself, or with the one it lies in. */
export interface TimeLimit {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** Frees the timer; the signal no longer aborts. */
  release(): void;
}

/** Begins a limit of `ms` milliseconds within another one, if given. */
export function startTimeLimit(ms: number, within?: AbortSignal): TimeLimit {
  const over = new AbortController();
  const end = () => over.abort();
  const timer = setTimeout(end, ms);
  if (within?.aborted) end();
  within?.addEventListener("abort", end, { once: true });
  return {
    signal: over.signal,
    release() {
      clearTimeout(timer);
      within?.removeEventListener("abort", end);
    },
  };
}

/**
 * What the work comes to, or the error where the signal aborts first, even if the work does not heed it. Work that ends
 * at once on the signal has the word: it knows better what it was doing.
 */
export async function orAbort<T>(work: Promise<T>, signal: AbortSignal, error: () => Error): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const end = () => void setImmediate(() => aborted.reject(error()));
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}
