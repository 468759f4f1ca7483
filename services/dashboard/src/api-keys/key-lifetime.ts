import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The lifetimes to choose from for a new key. */
export const lifetimes = [
  { id: "never", name: "Never", days: undefined },
  { id: "7", name: "In 7 days", days: 7 },
  { id: "30", name: "In 30 days", days: 30 },
  { id: "90", name: "In 90 days", days: 90 },
  { id: "365", name: "In a year", days: 365 },
] as const;

export type LifetimeId = (typeof lifetimes)[number]["id"];

/** Returns when a key of the chosen lifetime expires: undefined for never, "unknown" for an invalid choice. */
export function endOf(lifetime: string, now: Date): Timestamp | undefined | "unknown" {
  const chosen = lifetimes.find(({ id }) => id === lifetime);
  if (!chosen) return "unknown";
  return chosen.days && timestampFromDate(new Date(now.getTime() + chosen.days * DAY_MS));
}

/** Returns the choice closest to the lifetime of a key, to preselect for the key that replaces it. */
export function lifetimeOf({ createdAt, expiresAt }: Pick<ApiKey, "createdAt" | "expiresAt">): LifetimeId {
  if (!createdAt || !expiresAt) return "never";
  const days = (timestampDate(expiresAt).getTime() - timestampDate(createdAt).getTime()) / DAY_MS;
  const distance = (choice: { days: number | undefined }) => Math.abs((choice.days ?? Number.POSITIVE_INFINITY) - days);
  return lifetimes.reduce((best, choice) => (distance(choice) < distance(best) ? choice : best)).id;
}

/** How long a rolled key keeps working, in seconds. */
export const overlaps = [
  { id: "0", name: "Ends immediately", hint: "if someone else may know it" },
  { id: "3600", name: "Works for 1 more hour", hint: "if you replace it in your system now" },
  { id: "86400", name: "Works for 24 more hours", hint: "enough in most cases" },
  { id: "604800", name: "Works for 7 more days", hint: "if several systems use it" },
] as const;

export const DEFAULT_OVERLAP = "86400";

/** Returns the overlap in seconds; undefined for an invalid choice. */
export function overlapSeconds(overlap: string): number | undefined {
  const chosen = overlaps.find(({ id }) => id === overlap);
  return chosen && Number(chosen.id);
}
