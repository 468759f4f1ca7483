import type { ExclusionsPart, RegistrationPart } from "@vvs/registration";

/** A registration that SAM.gov's API gave: active until 2099, with what differs. */
export const registrationPart = (date: Date, more: Partial<RegistrationPart> = {}): RegistrationPart => ({
  ...{ origin: "sam_gov_api", date, load: "", listed_as: "active", id_only: false },
  ...{ expiration_date: "2099-01-01", legal_name: "A", cage: "", entity_type: "" },
  ...more,
});

/** What SAM.gov's API says of exclusions: there are none, with what differs. */
export const exclusionsPart = (date: Date, more: Partial<ExclusionsPart> = {}): ExclusionsPart => ({
  ...{ origin: "sam_gov_api", date, load: "", flagged: false, exclusions: [] },
  ...more,
});
