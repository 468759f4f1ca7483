/** Seconds from a failed attempt to the next one, as promised in docs/webhooks.md. */
const DELAYS_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600, 32_400];
const JITTER = 0.1;
const RETRY_AFTER_CAP_SECONDS = 3_600;
const WINDOW_SECONDS = 24 * 3_600;

export interface FailedAttempt {
  /** Number of attempts that the schedule counted before this one: 0, 1, …. */
  readonly step: number;
  readonly endedAt: Date;
  /** When the first attempt began, or the delivery was replayed. */
  readonly windowStartedAt: Date;
  /** Retry-After of a 429 or 503. */
  readonly retryAfterSeconds: number | undefined;
  /** 0–1, evenly spread. */
  readonly random: number;
}

/**
 * Returns when the next attempt follows a failed one: after the schedule's delay ± 10 %, or later where the subscriber
 * asked for it (by at most 1 h), but never later than 24 h after the first. Undefined: that was the last one.
 */
export function nextAttemptAt(attempt: FailedAttempt): Date | undefined {
  const delay = DELAYS_SECONDS[attempt.step];
  const lastAt = attempt.windowStartedAt.getTime() + WINDOW_SECONDS * 1000;
  const endedAt = attempt.endedAt.getTime();
  if (delay === undefined || endedAt >= lastAt) return undefined;
  const jittered = delay * (1 - JITTER + 2 * JITTER * attempt.random);
  const asked = Math.min(attempt.retryAfterSeconds ?? 0, RETRY_AFTER_CAP_SECONDS);
  return new Date(Math.min(endedAt + Math.max(jittered, asked) * 1000, lastAt));
}

/** Checked first, as Date.parse accepts almost anything. */
const HTTP_DATE = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Returns the seconds that a Retry-After header asks for (RFC 9110 §10.2.3); undefined where it is not valid. */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  const at = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000));
}
