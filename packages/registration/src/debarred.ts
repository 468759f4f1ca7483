import { type ExclusionEffect, exclusionEffects } from "./exclusion-effect.ts";
import type { Exclusion } from "./parts.ts";

/** What decides whether an exclusion is in force, and what it then does. */
type ExclusionTerms = Partial<Pick<Exclusion, "active_date" | "termination_date" | "effect">>;

/** Exclusions of a vendor. `flagged`: the source says that there are others. */
interface Exclusions {
  readonly flagged: boolean;
  readonly exclusions: readonly ExclusionTerms[];
}

/**
 * Returns true on the registry's days (YYYY-MM-DD) from the first to the last of an exclusion. Without a first day it has begun,
 * without a last one it is indefinite.
 */
export function isInForce(exclusion: Omit<ExclusionTerms, "effect">, today: string): boolean {
  const { active_date: begin = "", termination_date: end = "indefinite" } = exclusion;
  return begin <= today && (end === "indefinite" || end >= today);
}

/**
 * Returns the strongest effect among the exclusions that are in force on a registry's day; undefined where none is. What the source
 * does not name counts as `bar`.
 */
export function effectInForce({ flagged, exclusions }: Exclusions, today: string): ExclusionEffect | undefined {
  if (flagged) return "bar";
  const effects = exclusions.filter((each) => isInForce(each, today)).map(({ effect = "bar" }) => effect);
  return exclusionEffects.find((each) => effects.includes(each));
}

/** Returns true where an exclusion fails the vendor on a registry's day: a restriction of products does not. */
export function isExcluded(exclusions: Exclusions, today: string): boolean {
  const effect = effectInForce(exclusions, today);
  return effect !== undefined && effect !== "product";
}
