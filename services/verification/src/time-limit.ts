/** A time limit that ends by itself, or with the limit it is part of. */
export interface TimeLimit {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** Frees the timer; the signal no longer aborts. */
  release(): void;
}

/** Starts a limit of `ms` milliseconds, which ends early when `within` aborts. */
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
 * Resolves with the work's result, or rejects with the error when the signal aborts first, even if the work ignores the
 * signal. Where the work ends immediately on the signal, its own result or error counts, since it knows more.
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
