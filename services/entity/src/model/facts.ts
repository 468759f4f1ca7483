import type { IsoDate } from "./dates.ts";

export type RegistrationStatus = "active" | "inactive" | "expired" | "debarred";

/** A postal address. Parts that a source lacks are "", except `line2`, which is left out. */
export interface Address {
  type: "physical" | "mailing";
  line1: string;
  line2?: string;
  city: string;
  /** Two-letter code in the USA, the source's text elsewhere. */
  state: string;
  /** Five digits or ZIP+4 (`20190-5617`) in the USA, the source's text elsewhere. */
  zip: string;
  /** ISO 3166 alpha-3. */
  country: string;
}

/** What a source says of a registration, before today's date is asked for. */
export interface StatusFacts {
  /** False for a UEI that was assigned without a registration. */
  samRegistered: boolean;
  /** The source's own word; `expired` where it says so by itself. */
  listedAs: "active" | "inactive" | "expired";
  /** The last day of the registration. */
  expirationDate?: IsoDate;
  /** The source flags an active exclusion of this UEI. */
  excluded: boolean;
}

/** What an entity takes from a registry, whichever registry it is. */
export interface RegistryEntityFacts {
  uei: string;
  /** Which of its rows speaks for it: "" for the main one, else that of a further payment address. */
  eftIndicator: string;
  cage?: string;
  legalName: string;
  /** "Doing business as" and division names, which name matching sees too. */
  otherNames: string[];
  /** The registry's text, such as `Corporate Entity (Not Tax Exempt)`. */
  entityType?: string;
  status: StatusFacts;
  addresses: Address[];
  /** False when the entity opted out of public search. */
  publicDisplay: boolean;
  /** Who validated the entity's data (such as `D&B`, whose records must not be passed on in bulk). */
  validationSource?: string;
}
