import type { Exclusion, RegistryRecord } from "@vvs/proto/entity/v1/entity";
import type { Facts } from "./provider.ts";

export type RegistrationStatus = "active" | "inactive" | "expired" | "debarred";

/** What a registry row says about a vendor. */
export interface Verdict {
  readonly outcome: "pass" | "fail";
  /** Empty on a pass. */
  readonly reason: "" | "excluded" | "not_registered" | "expired" | "inactive";
  readonly registrationStatus: RegistrationStatus;
}

/** The parts of a registry row that a verdict rests on. */
export type RegistrationFacts = Pick<RegistryRecord, "extractCode" | "excluded" | "expirationDate" | "idOnly">;

export const excludedVerdict: Verdict = { outcome: "fail", reason: "excluded", registrationStatus: "debarred" };

/**
 * The verdict on a registration as its row stands, in this order: an active exclusion, an id without a registration, a
 * past expiration date or the source's word, an active registration, anything else. Dates are YYYY-MM-DD.
 */
export function registrationVerdict(
  record: RegistrationFacts,
  exclusions: readonly Exclusion[],
  today: string,
): Verdict {
  if (record.excluded || exclusions.length > 0) return excludedVerdict;
  if (record.idOnly) return { outcome: "fail", reason: "not_registered", registrationStatus: "inactive" };
  const isPast = record.expirationDate !== "" && record.expirationDate < today;
  if (isPast || record.extractCode === "E") {
    return { outcome: "fail", reason: "expired", registrationStatus: "expired" };
  }
  if (record.extractCode === "A" && record.expirationDate) {
    return { outcome: "pass", reason: "", registrationStatus: "active" };
  }
  return { outcome: "fail", reason: "inactive", registrationStatus: "inactive" };
}

/**
 * The facts of a row that monitors watch; "" where the row has none, so that a value which disappears is told. Without
 * a row the status alone: of the others nothing is known.
 */
export function registrationFacts(record: RegistryRecord | undefined, registrationStatus: RegistrationStatus): Facts {
  return {
    registration_status: registrationStatus,
    ...(record && {
      expiration_date: record.expirationDate,
      legal_name: record.legalName,
      cage: record.cage,
      entity_type: record.entityType,
    }),
  };
}
