export { callsForAbsent, callsForRegistered } from "./asking-cost.ts";
export { addDays, isDay, registryDay, startOfRegistryDay, startOfUtcDay, utcDay } from "./days.ts";
export { effectInForce, isExcluded, isInForce } from "./debarred.ts";
export { entityTypes } from "./entity-types.ts";
export { type ExclusionEffect, effectOf, exclusionEffects, isEffect } from "./exclusion-effect.ts";
export { ASKED_DAILY_MS, callsToKeepFresh, planFreshness, RESERVE_PERCENT } from "./fresh-plan.ts";
export { exclusionFromMessage, exclusionToMessage, partsFromMessage, partsToMessage } from "./messages.ts";
export {
  dayOfPart,
  type Exclusion,
  type ExclusionsPart,
  isTrusted,
  newestParts,
  type PartSource,
  type Parts,
  type RegistrationPart,
} from "./parts.ts";
export { factsOf, type RegistrationFacts, type RegistrationStatus, type Verdict, verdictOf } from "./verdict.ts";
export { exactTime, longDay } from "./written-dates.ts";
