import type { Exclusion, Parts, RegistrationFacts } from "@vvs/registration";

/** What an answer's verdict rests on, as results show it. Field names are those of the stored documents. */
export interface ResultDetails extends Omit<RegistrationFacts, "exclusion_effect"> {
  /** Those that have not ended; absent where the source does not know them. */
  readonly exclusions?: readonly Exclusion[];
  /** Only for tin_match: the IRS's result code. */
  readonly irs_code?: string;
  /** Only for tin_match: the TIN that was asked about, masked. Absent where it was stored before this field. */
  readonly tin?: string;
  /** Only for tin_match: the name that was asked about, as it was sent. */
  readonly name?: string;
}

/** Returns the details of an answer to sam_registration. A fact that there is none of is left out. */
export function registrationDetails(facts: RegistrationFacts, { exclusions }: Parts): ResultDetails {
  const { exclusion_effect: _, ...shown } = facts;
  const known = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== ""));
  return { ...known, ...(exclusions && { exclusions: exclusions.exclusions }) };
}
