import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vvs/proto/account/v1/account";

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long a new key may live, as forms name it. */
export const lifetimes = [
  { id: "never", name: "Never", days: undefined },
  { id: "7", name: "In 7 days", days: 7 },
  { id: "30", name: "In 30 days", days: 30 },
  { id: "90", name: "In 90 days", days: 90 },
  { id: "365", name: "In a year", days: 365 },
] as const;

export type LifetimeId = (typeof lifetimes)[number]["id"];

/** When a key of the chosen lifetime ends; undefined for one that never does. "unknown" where that was no choice. */
export function endOf(lifetime: string, now: Date): Timestamp | undefined | "unknown" {
  const chosen = lifetimes.find(({ id }) => id === lifetime);
  if (!chosen) return "unknown";
  return chosen.days && timestampFromDate(new Date(now.getTime() + chosen.days * DAY_MS));
}

/** The choice that comes nearest to how long a key was to live: what its successor is offered. */
export function lifetimeOf({ createdAt, expiresAt }: Pick<ApiKey, "createdAt" | "expiresAt">): LifetimeId {
  if (!createdAt || !expiresAt) return "never";
  const days = (timestampDate(expiresAt).getTime() - timestampDate(createdAt).getTime()) / DAY_MS;
  const distance = (choice: { days: number | undefined }) => Math.abs((choice.days ?? Number.POSITIVE_INFINITY) - days);
  return lifetimes.reduce((best, choice) => (distance(choice) < distance(best) ? choice : best)).id;
}

/** For how long a rolled key goes on working, in seconds, as forms name it. */
export const overlaps = [
  { id: "0", name: "ends at once", hint: "if somebody else may know it" },
  { id: "3600", name: "works for 1 hour more", hint: "for a system that you change right now" },
  { id: "86400", name: "works for 24 hours more", hint: "enough in most cases" },
  { id: "604800", name: "works for 7 days more", hint: "where several systems use it" },
] as const;

export const DEFAULT_OVERLAP = "86400";

/** The overlap in seconds; undefined where that was no choice. */
export function overlapSeconds(overlap: string): number | undefined {
  const chosen = overlaps.find(({ id }) => id === overlap);
  return chosen && Number(chosen.id);
}
