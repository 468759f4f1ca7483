import { type ExclusionPeriod, isExclusionActive } from "../registry-load/files/exclusion-row.ts";
import type { IsoDate } from "./dates.ts";
import type { RegistrationStatus, StatusFacts } from "./facts.ts";

/**
 * The registration status of an entity today. An exclusion comes before all else; a UEI without a registration is
 * inactive even where the source calls it Active; a past expiration date is `expired` whatever the source's word.
 */
export function registrationStatus(
  facts: StatusFacts,
  exclusions: readonly ExclusionPeriod[],
  today: IsoDate,
): RegistrationStatus {
  if (facts.excluded || exclusions.some((exclusion) => isExclusionActive(exclusion, today))) return "debarred";
  if (!facts.samRegistered) return "inactive";
  if (facts.expirationDate !== undefined && facts.expirationDate < today) return "expired";
  if (facts.listedAs === "expired") return "expired";
  return facts.listedAs === "active" && facts.expirationDate !== undefined ? "active" : "inactive";
}
