import { effectInForce, isExcluded } from "./debarred.ts";
import { dayOfPart, type Parts } from "./parts.ts";

export type RegistrationStatus = "active" | "inactive" | "expired" | "debarred";

/** The verdict of both parts on a vendor. */
export interface Verdict {
  readonly outcome: "pass" | "fail";
  /** Empty on a pass. */
  readonly reason: "" | "excluded" | "not_found" | "not_registered" | "expired" | "inactive";
  /** Absent where there is no record. */
  readonly status?: RegistrationStatus;
}

/** The watched facts of a registration. An unknown fact is absent; "" means that there is none. */
export interface RegistrationFacts {
  readonly registration_status?: string;
  readonly expiration_date?: string;
  readonly legal_name?: string;
  readonly cage?: string;
  readonly entity_type?: string;
  /** The strongest effect of the exclusions in force. */
  readonly exclusion_effect?: string;
}

/**
 * Returns the verdict on a vendor on a registry's day (YYYY-MM-DD). The first that applies decides: an exclusion in force that
 * is more than a restriction of products, no record, an id without a registration, a past expiration date or the source's
 * status "expired", an active registration, anything else. Returns undefined where the parts do not suffice: there is no
 * registration part, or the registration expired after the date of its part and may have been renewed.
 */
export function verdictOf({ registration, exclusions }: Parts, today: string): Verdict | undefined {
  if (exclusions && isExcluded(exclusions, today)) return { outcome: "fail", reason: "excluded", status: "debarred" };
  if (!registration) return undefined;
  const { listed_as: listedAs, id_only: isIdOnly, expiration_date: end } = registration;
  if (listedAs === "not_found") return { outcome: "fail", reason: "not_found" };
  if (isIdOnly) return { outcome: "fail", reason: "not_registered", status: "inactive" };
  const isPast = end !== "" && end < today;
  if (isPast && listedAs !== "expired" && end >= dayOfPart(registration)) return undefined;
  if (isPast || listedAs === "expired") return { outcome: "fail", reason: "expired", status: "expired" };
  if (listedAs === "active" && end !== "") return { outcome: "pass", reason: "", status: "active" };
  return { outcome: "fail", reason: "inactive", status: "inactive" };
}

/**
 * Returns the watched facts of parts with their verdict on a registry's day (YYYY-MM-DD). Without a record or a registration part, its
 * facts are absent; so is the effect without an exclusions part.
 */
export function factsOf({ registration, exclusions }: Parts, { status }: Verdict, today: string): RegistrationFacts {
  return {
    ...(status && { registration_status: status }),
    ...(registration &&
      registration.listed_as !== "not_found" && {
        expiration_date: registration.expiration_date,
        legal_name: registration.legal_name,
        cage: registration.cage,
        entity_type: registration.entity_type,
      }),
    ...(exclusions && { exclusion_effect: effectInForce(exclusions, today) ?? "" }),
  };
}
