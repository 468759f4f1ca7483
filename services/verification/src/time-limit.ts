/** Runs work with a signal that aborts after `ms` milliseconds, or when `within` aborts. The work must end by itself then. */
export async function withTimeLimit<T>(
  ms: number,
  within: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const end = () => over.abort();
  const timer = setTimeout(end, ms);
  if (within?.aborted) end();
  within?.addEventListener("abort", end, { once: true });
  try {
    return await work(over.signal);
  } finally {
    clearTimeout(timer);
    within?.removeEventListener("abort", end);
  }
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
