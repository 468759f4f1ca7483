import { isExcluded, type RegistrationStatus } from "@vvs/registration";
import type { IsoDate } from "./dates.ts";
import type { EntityDocument } from "./documents.ts";

/**
 * Returns an entity's registration status on a registry's day; the facts stay, and their meaning changes as days pass. An
 * exclusion of more than products comes first. A vendor is `inactive` if its UEI has no registration or a newer complete file
 * lacks it, even if the source calls it active. A registration past its expiration date is `expired`, even if the source calls it
 * active.
 */
export function statusOf(
  { sam, exclusions, flag_ended, listed }: Pick<EntityDocument, "sam" | "exclusions" | "flag_ended" | "listed">,
  today: IsoDate,
): RegistrationStatus {
  const flagged = sam?.excluded === true && !flag_ended;
  if (isExcluded({ flagged, exclusions }, today)) return "debarred";
  if (!sam?.sam_registered || listed === false) return "inactive";
  const { listed_as: listedAs, expiration_date: end } = sam;
  if (listedAs === "expired" || (end !== undefined && end < today)) return "expired";
  return listedAs === "active" && end !== undefined ? "active" : "inactive";
}
