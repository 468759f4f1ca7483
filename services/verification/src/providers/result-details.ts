import type { Parts, RegistrationFacts } from "@vvs/registration";
import type { ResultDetails } from "../documents.ts";

/** Returns the details of an answer to sam_registration. A fact that there is none of is left out. */
export function registrationDetails(facts: RegistrationFacts, { exclusions }: Parts): ResultDetails {
  const { exclusion_effect: _, ...shown } = facts;
  const known = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== ""));
  const rows = exclusions?.exclusions.map(({ without_uei: _, ...row }) => row);
  return { ...known, ...(rows && { exclusions: rows }) };
}
