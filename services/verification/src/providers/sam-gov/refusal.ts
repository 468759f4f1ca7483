import { startOfUtcDay } from "@vvs/registration";
import { z } from "zod";
import { type ProviderResponse, requireAnswered } from "../http/provider-http.ts";
import { ProviderError } from "../provider.ts";

const DAY_MS = 86_400_000;
/** The wait where the reset time has already passed, in milliseconds: clocks differ, or the quota has just been reset. */
const PAST_PAUSE_MS = 60_000;

const nextAccess = z.object({ nextAccessTime: z.string() });
const quotaShapes = z.union([nextAccess, z.object({ fault: nextAccess }).transform(({ fault }) => fault)]);

/**
 * Returns a 2xx response. Errors: ProviderError `quota_exhausted` with the time of its reset for a 429; `http_<status>`
 * for any other, of 400, 404 and 422 as the input's fault.
 */
export function requireAnswer(response: ProviderResponse, now: Date): ProviderResponse {
  if (response.status !== 429) return requireAnswered(response);
  throw new ProviderError("quota_exhausted", { isFault: false, shutUntil: quotaReset(response, now) });
}

/**
 * Returns when a used-up quota is reset: the time in the body (in either of its two shapes), else in Retry-After, else
 * the next midnight UTC, when quotas are reset. At most a day from now, since a quota covers a day.
 */
export function quotaReset({ text, headers }: Pick<ProviderResponse, "text" | "headers">, now: Date): Date {
  const retryAfter = headers["retry-after"];
  const reset =
    parseAccessTime(nextAccessTime(text)) ??
    (typeof retryAfter === "string" && /^\d{1,6}$/.test(retryAfter)
      ? new Date(now.getTime() + Number(retryAfter) * 1_000)
      : nextMidnight(now));
  const earliest = now.getTime() + (reset > now ? 0 : PAST_PAUSE_MS);
  return new Date(Math.min(Math.max(reset.getTime(), earliest), now.getTime() + DAY_MS));
}

/** Parses a time such as `2026-Sep-09 00:00:00+0000 UTC`, or ISO 8601. Returns undefined for anything else. */
export function parseAccessTime(text: string): Date | undefined {
  const written = /^\d{4}-(?:[A-Z][a-z]{2}|\d{2})-\d{2}[T ]\d{2}:\d{2}:\d{2}\S+/.exec(text.trim())?.[0] ?? "";
  const time = new Date(written);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

function nextAccessTime(text: string): string {
  try {
    return quotaShapes.parse(JSON.parse(text)).nextAccessTime;
  } catch {
    return "";
  }
}

function nextMidnight(now: Date): Date {
  return new Date(startOfUtcDay(now).getTime() + DAY_MS);
}
