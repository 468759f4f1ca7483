import { isDay } from "./days.ts";

/** Returns a day in words, such as "31 March 2027"; a text that is no day (YYYY-MM-DD) as it is. */
export function longDay(day: string): string {
  if (!isDay(day)) return day;
  const at = new Date(day);
  return at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

/** Returns a time in UTC, such as "2026-11-21 07:41:46 UTC"; pages and emails write times so, and days as `longDay` does. */
export function exactTime(at: Date, to: "minute" | "second" = "second"): string {
  const iso = at.toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, to === "minute" ? 16 : 19)} UTC`;
}
