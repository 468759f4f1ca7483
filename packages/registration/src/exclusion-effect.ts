/**
 * What an exclusion does to its vendor: `bar` excludes it from federal awards, `facility` only one of its places, `product`
 * only some of its products and services.
 */
export type ExclusionEffect = "bar" | "facility" | "product";

/** The effects, strongest first. */
export const exclusionEffects: readonly ExclusionEffect[] = ["bar", "facility", "product"];

/** Returns true for the name of an effect. Stored and received exclusions of older versions have none. */
export function isEffect(name: string): name is ExclusionEffect {
  return (exclusionEffects as readonly string[]).includes(name);
}

/** What an exclusion's row says about its effect, as received. */
export interface EffectTerms {
  readonly agency: string;
  /** The CT code. */
  readonly causeCode: string;
  readonly comment: string;
}

/** Section 889 of the NDAA for fiscal year 2019, which prohibits some equipment and services. */
const SECTION_889 = /\bsection 889\b/;
const NOT_ITSELF_EXCLUDED =
  /\b(?:entity|firm|company|vendor|contractor) (?:itself )?is not (?:itself )?(?:excluded|debarred|ineligible)\b/;
const ONE_FACILITY =
  /\b(?:this|that|the|named|violating) facility only\b|\bonly (?:to )?(?:this|that|the|the violating) facility\b/;

/**
 * Returns the effect of an exclusion. A row is a `product` restriction only where the agency, Section 889 and the statement
 * that the entity itself is not excluded all say so; everything that is not clearly limited is a `bar`. Sources: GSA's rows
 * of Section 889; EPA's of 2 CFR 1532.1100 and following (CT code H); 2 CFR 376.147, by which HHS's bar government-wide.
 */
export function effectOf({ agency, causeCode, comment }: EffectTerms): ExclusionEffect {
  const words = comment.toLowerCase().replace(/\s+/g, " ");
  if (agency.trim().toUpperCase() === "GSA" && SECTION_889.test(words) && NOT_ITSELF_EXCLUDED.test(words))
    return "product";
  return causeCode.trim().toUpperCase() === "H" || ONE_FACILITY.test(words) ? "facility" : "bar";
}
