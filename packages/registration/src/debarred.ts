import type { ExclusionEffect } from "./exclusion-effect.ts";
import type { Exclusion, ExclusionsPart } from "./parts.ts";

/** What decides whether an exclusion is in force, and what it then does. */
type ExclusionTerms = Pick<Exclusion, "active_date" | "termination_date" | "effect">;

/** The effects, strongest first. */
const STRONGEST_FIRST: readonly ExclusionEffect[] = ["bar", "facility", "product"];

/** Returns true on the registry's days (YYYY-MM-DD) from the first to the last of an exclusion. */
export function isInForce(exclusion: Pick<Exclusion, "active_date" | "termination_date">, today: string): boolean {
  const { active_date: begin, termination_date: end } = exclusion;
  return begin <= today && (end === "indefinite" || end >= today);
}

/**
 * Returns the strongest effect among the exclusions that are in force on a registry's day; undefined where none is. What the source
 * does not name counts as `bar`.
 */
export function effectInForce(
  { flagged, exclusions }: { flagged: boolean; exclusions: readonly ExclusionTerms[] },
  today: string,
): ExclusionEffect | undefined {
  if (flagged) return "bar";
  const effects = exclusions.filter((each) => isInForce(each, today)).map(({ effect = "bar" }) => effect);
  return STRONGEST_FIRST.find((each) => effects.includes(each));
}

/** Returns true where an exclusion fails the vendor on a registry's day: a restriction of products does not. */
export function isExcluded(part: ExclusionsPart, today: string): boolean {
  const effect = effectInForce(part, today);
  return effect !== undefined && effect !== "product";
}
