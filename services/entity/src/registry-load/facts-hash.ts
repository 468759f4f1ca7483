import { hash } from "node:crypto";
import type { LoadDocument } from "../model/documents.ts";
import type { RegistryEntityFacts } from "../model/facts.ts";

/**
 * Raise one when loads derive other data from the same files of its kind, except match keys, which rekey.ts recomputes. The next
 * refresh then loads the newest file again.
 */
export const RULES: Readonly<Record<LoadDocument["kind"], number>> = { registry: 3, exclusions: 5 };

/**
 * Returns a hash of the facts that a load takes over. Most rows of a file have the same hash as in the previous file, and so
 * need not be compared with the whole entity.
 */
export function factsHash({
  uei,
  eft_indicator,
  legal_name,
  other_names,
  addresses,
  sam,
  other_cages = [],
}: RegistryEntityFacts): string {
  const { sam_registered, listed_as, expiration_date, excluded, cage, entity_type } = sam;
  const registration = [sam_registered, listed_as, expiration_date, excluded, cage, entity_type];
  const places = addresses.map(({ type, line1, line2, city, state, zip, country }) => {
    return [type, line1, line2, city, state, zip, country];
  });
  const facts = [RULES.registry, uei, eft_indicator, legal_name, other_names, registration, places, other_cages];
  return hash("sha256", JSON.stringify(facts), "base64url").slice(0, 22);
}
