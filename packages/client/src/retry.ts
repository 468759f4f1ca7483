/** Which failed attempts of an operation may be repeated. */
export type Repeatable =
  /** All that may pass: repeating the operation has no second effect. */
  | "always"
  /** Only those that the service refused before they could have an effect. */
  | "if-refused";

/** How an attempt failed. */
export interface Failure {
  /** HTTP status; undefined without an answer. */
  readonly status?: number | undefined;
  /** Error code of the answer. */
  readonly code?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** Longest wait before the second attempt, in milliseconds. It doubles with each further failure. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;

/** Returns whether another attempt may follow this failure. */
export function mayRepeat(repeatable: Repeatable, { status, code }: Failure): boolean {
  if (repeatable === "if-refused") return status === 429;
  if (status === undefined || PASSING_STATUSES.has(status)) return true;
  // An earlier attempt with the same key is still running. Its answer is returned once it has ended.
  return status === 409 && code === "idempotency_conflict";
}

/**
 * Returns how long to wait after `failures` failures in a row (1 or more), in milliseconds: what the service asked for,
 * and a random part of the backoff, so that clients that failed together do not come back together. `random` returns 0–1.
 */
export function retryWaitMs(failures: number, { retryAfterSeconds = 0 }: Failure, random: () => number): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
  return retryAfterSeconds * 1_000 + random() * longest;
}

/** Returns the value of a Retry-After header in seconds from now, rounded up; undefined if there is none or it is unreadable. */
export function readRetryAfter(value: string | null, now: Date): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1_000));
}
