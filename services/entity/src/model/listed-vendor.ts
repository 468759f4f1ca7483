import type { Check, CheckStatus } from "@vvs/checks";
import type { IsoDate } from "./dates.ts";

/** A result of a check, and the verification that it is from. */
export interface ListedResult {
  readonly status: CheckStatus;
  /** Empty on a plain pass. */
  readonly reason: string;
  /** When the verification was stored. Results are ordered by it, ties by the verification's id. */
  readonly at: Date;
  readonly verification_id: string;
  /** When the check was made; absent where that was when the verification was stored, and where it was stored before this field. */
  readonly made_at?: Date;
  /** Of tin_match: the masked TIN and the name that were asked about. Absent where they are unknown. */
  readonly tin?: string;
  /** Of tin_match: the fingerprint of that TIN, in base64. Absent where it is unknown. */
  readonly tin_fingerprint?: string;
  /** Of sam_registration: the name in the answer, only if it is another one than the vendor's. */
  readonly name?: string;
  /** Of tin_match: the name that was asked about is another one than the vendor's, and the result depends on it. */
  readonly other_name?: true;
  /** Of sam_registration: the strongest effect of the exclusions in force; absent where there is none. */
  readonly effect?: string;
  /** Of sam_registration: an exclusion without identifiers bears the vendor's name (found), or that is unknown. Absent: none does. */
  readonly same_name?: string;
}

/** The newest results of a check of a vendor. Those about another TIN count only while there are none about the vendor's. */
export interface ListedCheck {
  readonly newest: ListedResult;
  /** The newest pass or fail; absent if there is none. */
  readonly answered?: ListedResult;
}

/** A vendor in the list of an organization: an entity that it verified, monitors or created. */
export interface ListedVendorDocument {
  /** `<organization>/<entity>`. */
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  /** The entity's name when this was last written, as lists are ordered by it. */
  readonly name_key: string;
  readonly checks: { readonly [C in Check]?: ListedCheck };
  /**
   * The vendor's masked TIN ("" if it has none) by its newest verification, and its fingerprint where that says it; absent
   * while no verification says it.
   */
  readonly subject?: { readonly tin: string } & Pick<ListedResult, "tin_fingerprint" | "at" | "verification_id">;
  /** When a check was last made; NEVER if there is none. */
  readonly checked_at: Date;
  /** Last day of the registration by the last answer of sam_registration; UNKNOWN_EXPIRY if it has none. */
  readonly expires_on: IsoDate;
  /** That answer says that the vendor is excluded. */
  readonly excluded: boolean;
  /** Number of active monitors. */
  readonly monitors: number;
  readonly archived?: { readonly at: Date; readonly by: string };
  /** On a registry entity's: the own entity that took it over, whose vendor has its results. Then it has none, and no filter finds it. */
  readonly taken_by?: string;
  /** The filters that this vendor is found by. Each index is on one of them and on one order. */
  readonly lists: readonly VendorTag[];
}

/** A monitor of an organization's vendor. */
export interface VendorMonitorDocument {
  /** mon_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  /** A monitor that is canceled never becomes active again. */
  readonly active: boolean;
}

export type VendorTag = "all" | "failed" | "error" | "excluded" | "monitored" | "unmonitored" | "archived";
