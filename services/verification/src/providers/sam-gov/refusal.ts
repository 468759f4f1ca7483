import { z } from "zod";
import { ProviderError } from "../provider.ts";
import { type ProviderResponse, requireOk } from "../provider-http.ts";

const DAY_MS = 86_400_000;
/** A time to come back that is past already: another clock, or a window that has just ended. */
const PAST_PAUSE_MS = 60_000;

const nextAccess = z.object({ nextAccessTime: z.string() });
const quotaShapes = z.union([nextAccess, z.object({ fault: nextAccess }).transform(({ fault }) => fault)]);

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * The answer where SAM.gov gave one. Errors: ProviderError `quota_exhausted` with the time of its reset for a 429, else
 * `http_<status>`.
 */
export function requireAnswer(response: ProviderResponse, now: Date): ProviderResponse {
  if (response.status !== 429) return requireOk(response);
  throw new ProviderError("quota_exhausted", { isFault: false, shutUntil: quotaReset(response, now) });
}

/**
 * When a used up quota is there again: as the body says in either of its shapes, or Retry-After, and else at the next
 * midnight UTC, when quotas begin anew. Never more than a day away, which is as long as a quota lasts.
 */
export function quotaReset({ text, headers }: Pick<ProviderResponse, "text" | "headers">, now: Date): Date {
  const retryAfter = headers["retry-after"];
  const told =
    parseAccessTime(nextAccessTime(text)) ??
    (typeof retryAfter === "string" && /^\d{1,6}$/.test(retryAfter)
      ? new Date(now.getTime() + Number(retryAfter) * 1_000)
      : nextMidnight(now));
  const earliest = now.getTime() + (told > now ? 0 : PAST_PAUSE_MS);
  return new Date(Math.min(Math.max(told.getTime(), earliest), now.getTime() + DAY_MS));
}

/** A time as `2026-Sep-09 00:00:00+0000 UTC` or ISO 8601; undefined for anything else. */
export function parseAccessTime(text: string): Date | undefined {
  const [, year, name = "", rest, offset] =
    /^(\d{4})-([A-Z][a-z]{2})-(\d{2} \d{2}:\d{2}:\d{2})([+-]\d{2}:?\d{2})(?: UTC)?$/.exec(text.trim()) ?? [];
  const month = String(MONTHS.indexOf(name) + 1).padStart(2, "0");
  const iso = year
    ? `${year}-${month}-${rest!.replace(" ", "T")}${offset!.replace(/(\d{2}):?(\d{2})$/, "$1:$2")}`
    : text;
  if (!/^\d{4}-\d{2}-\d{2}T/.test(iso)) return undefined;
  const time = new Date(iso);
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
  return new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS + DAY_MS);
}
