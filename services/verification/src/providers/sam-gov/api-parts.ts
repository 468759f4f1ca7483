import { dayOf, type ExclusionsPart, type RegistrationPart } from "@vvs/registration";
import { type ExclusionRow, exclusionsOf } from "./exclusion.ts";
import type { Registration } from "./registration.ts";

// Turns answers of SAM.gov's APIs into parts, dated by the moment they were received.

const sourceOf = (receivedAt: Date) => ({ origin: "sam_gov_api", date: receivedAt, load: "" });

/** Returns the registration part: `not_found` for a vendor without a registration or an id. */
export function registrationPart(registration: Registration | undefined, receivedAt: Date): RegistrationPart {
  if (!registration) {
    const nothing = { id_only: false, expiration_date: "", legal_name: "", cage: "", entity_type: "" };
    return { ...sourceOf(receivedAt), listed_as: "not_found", ...nothing };
  }
  return {
    ...sourceOf(receivedAt),
    listed_as: registration.isActive ? "active" : "inactive",
    id_only: !registration.isRegistered,
    expiration_date: registration.expirationDate,
    legal_name: registration.legalName,
    cage: registration.cage,
    entity_type: registration.entityType,
  };
}

/** Returns the exclusions part of an answer of the Exclusions API. */
export function exclusionsPart(rows: readonly ExclusionRow[], receivedAt: Date): ExclusionsPart {
  return { ...sourceOf(receivedAt), flagged: false, exclusions: exclusionsOf(rows, dayOf(receivedAt)) };
}

/** Returns the exclusions part of a registration that flags an exclusion. */
export function flaggedPart(receivedAt: Date): ExclusionsPart {
  return { ...sourceOf(receivedAt), flagged: true, exclusions: [] };
}
