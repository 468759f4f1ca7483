import { hash } from "node:crypto";
import type { Address, RegistryEntityFacts } from "../model/facts.ts";
import { matchKeysOf } from "../model/match-keys.ts";

/** Raised when a load makes something else of the same facts, beside the keys of matching. */
const RULES = 1;

/** Names and addresses of each kind that matching knows. */
const sampleNames = [
  ...["BLUE RIDGE TIMBER, L.L.C.", "A & B SERVICES INC", "SMITH, JOHN Q", "CITY OF ASHEVILLE, THE", "MC DONALD MFG CO"],
  ...[
    "INTL BROTHERHOOD OF ELEC WRKRS LOCAL 42",
    "CAFÉ RÍO S.A. DE C.V.",
    "3 M PRECISION GRINDING GMBH",
    "O'BRIEN & SONS",
  ],
];
const sampleLines = [
  "12 N OAK ST STE 4",
  "PO BOX 9",
  "ONE QUASAR WAY",
  "US HIGHWAY 70 W",
  "1234-B 5TH AVENUE NORTHWEST",
];

/** What matching makes of the samples: where its rules change, so does this, and the next load makes all keys anew. */
const keyRules = hash("sha256", JSON.stringify(sampleNames.map(sampleKeys)), "base64url");

/**
 * One text for the facts that a load takes over, to be compared with a later file's: most rows of a registry say what
 * they said before, and are known by it without reading the entity.
 */
export function factsHash(facts: RegistryEntityFacts): string {
  const { uei, eftIndicator, cage, legalName, otherNames, entityType, status, addresses } = facts;
  const listed = [status.samRegistered, status.listedAs, status.expirationDate, status.excluded];
  const places = addresses.map(({ type, line1, line2, city, state, zip, country }) => {
    return [type, line1, line2, city, state, zip, country];
  });
  const told = [RULES, keyRules, uei, eftIndicator, cage, legalName, otherNames, entityType, listed, places];
  return hash("sha256", JSON.stringify(told), "base64url").slice(0, 22);
}

function sampleKeys(legal_name: string) {
  const addresses = sampleLines.map(
    (line1): Address => ({ type: "physical", line1, city: "ST LOUIS", state: "MO", zip: "63101-1234", country: "USA" }),
  );
  return matchKeysOf({ legal_name, placeholder: false, other_names: [], addresses });
}
