import type { Address } from "../matching/addresses/address.ts";
import type { IsoDate } from "./dates.ts";

/** What a registry or a provider says about a registration. */
export interface SamFacts {
  /** False for a UEI that was assigned without a registration. */
  readonly sam_registered: boolean;
  /** The source's own status; `expired` only where the source itself says so. */
  readonly listed_as: "active" | "inactive" | "expired";
  /** The last day of the registration. */
  readonly expiration_date?: IsoDate;
  /** The source itself flags an exclusion that is in force. */
  readonly excluded: boolean;
  readonly cage?: string;
  /** The registry's text, such as `Corporate Entity (Not Tax Exempt)`. */
  readonly entity_type?: string;
}

/** What an entity takes from its row of a registry. */
export interface RegistryEntityFacts {
  readonly uei: string;
  /** "" for the entity's main row; rows of its other payment addresses have another indicator. */
  readonly eft_indicator: string;
  readonly legal_name: string;
  /** "Doing business as" and division names; name matching uses them too. */
  readonly other_names: readonly string[];
  readonly addresses: readonly Address[];
  readonly sam: SamFacts;
  /** CAGEs of the entity's other rows. */
  readonly other_cages?: readonly string[];
}
