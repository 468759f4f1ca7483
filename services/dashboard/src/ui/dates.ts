import { type Html, html } from "../http/html.ts";

const MINUTE_MS = 60_000;
const UNITS = [
  ["year", 365 * 24 * 60 * MINUTE_MS],
  ["month", 30 * 24 * 60 * MINUTE_MS],
  ["day", 24 * 60 * MINUTE_MS],
  ["hour", 60 * MINUTE_MS],
  ["minute", MINUTE_MS],
] as const;

/** Returns the day of a time in UTC, YYYY-MM-DD. */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Returns a day in words, such as "31 March 2027"; a text that is no day (YYYY-MM-DD) as it is. */
export function longDay(day: string): string {
  const at = new Date(`${day}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(at.getTime())) return day;
  return at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

/** Returns how long ago a time was in its largest whole unit, such as "3 hours ago"; "just now" for less than a minute. */
export function agoText(at: Date, now: Date): string {
  const passedMs = now.getTime() - at.getTime();
  const [unit, lengthMs] = UNITS.find(([, each]) => passedMs >= each) ?? [];
  if (!unit) return "just now";
  const count = Math.floor(passedMs / lengthMs!);
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}

/** Returns a time in UTC to the second, such as "2026-11-21 07:41:46 UTC". */
export function exactTime(at: Date): string {
  const iso = at.toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** Renders how long ago a time was; the exact time is shown on hover and in print. */
export function ago(at: Date, now: Date): Html {
  return html`<time datetime="${at.toISOString()}" title="${exactTime(at)}">${agoText(at, now)}</time>`;
}
