import { exactTime, longDay } from "@vvs/registration";
import { type Html, html } from "../http/html.ts";

const MINUTE_MS = 60_000;
const UNITS = [
  ["year", 365 * 24 * 60 * MINUTE_MS],
  ["month", 30 * 24 * 60 * MINUTE_MS],
  ["day", 24 * 60 * MINUTE_MS],
  ["hour", 60 * MINUTE_MS],
  ["minute", MINUTE_MS],
] as const;

/** Returns a duration in its largest whole unit, such as "3 hours"; undefined for less than a minute. */
function durationText(ms: number): string | undefined {
  const [unit, lengthMs] = UNITS.find(([, each]) => ms >= each) ?? [];
  if (!unit) return undefined;
  const count = Math.floor(ms / lengthMs!);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** Returns how long ago a time was in its largest whole unit, such as "3 hours ago"; "just now" for less than a minute. */
export function agoText(at: Date, now: Date): string {
  const passed = durationText(now.getTime() - at.getTime());
  return passed ? `${passed} ago` : "just now";
}

/** Returns how far ahead a time is, such as "in 3 hours"; "within a minute" for less than that, and for times that passed. */
export function untilText(at: Date, now: Date): string {
  const left = durationText(at.getTime() - now.getTime());
  return left ? `in ${left}` : "within a minute";
}

/** Renders a day (YYYY-MM-DD) in words. */
export function dayTime(day: string): Html {
  return html`<time datetime="${day}">${longDay(day)}</time>`;
}

/** Renders how long ago a time was; the exact time is shown on hover, and printed in its place. */
export function ago(at: Date, now: Date): Html {
  return withExact(at, agoText(at, now));
}

/** Renders how far ahead a time is; the exact time is shown on hover, and printed in its place. */
export function until(at: Date, now: Date): Html {
  return withExact(at, untilText(at, now));
}

function withExact(at: Date, text: string): Html {
  return html`<time datetime="${at.toISOString()}" title="${exactTime(at)}"><span class="unprinted">${text}</span></time>`;
}
