import { addDays, registryDay, utcDay } from "./days.ts";
import type { ExclusionEffect } from "./exclusion-effect.ts";

// The two parts of a SAM.gov registration. Each has its own origin and date, since they come from different sources: the
// registration from the API or the monthly extract, exclusions also from the daily file. Field names are those of the
// stored documents.

/** The source of a part. */
export interface PartSource {
  /** sam_gov_api, sam_gov_extract or sam_gov_exclusions. */
  readonly origin: string;
  /** The date of the data: when the API answered; for a file its cut date, as midnight UTC. */
  readonly date: Date;
  /** The load of the file that the part comes from; of the API's, that of the file whose rows were added, or empty. */
  readonly load: string;
  /** The evidence that holds the received data; absent until it is stored. */
  readonly evidence_id?: string;
}

/** A registration, as its source lists it. Texts are empty where the source has none; dates are YYYY-MM-DD. */
export interface RegistrationPart extends PartSource {
  /** The source's own status; `not_found` where a complete source has no record of the vendor. */
  readonly listed_as: "active" | "inactive" | "expired" | "not_found";
  /** A UEI was assigned but never registered. */
  readonly id_only: boolean;
  readonly expiration_date: string;
  readonly legal_name: string;
  readonly cage: string;
  /** Only SAM.gov's API sets it: the vendor may have been asked for by its CAGE. */
  readonly uei?: string;
  readonly entity_type: string;
  /** SAM.gov's API says that there are exclusions; it does not say what they restrict. Not set for a file, whose record has its flag. */
  readonly flagged?: true;
}

/** One exclusion. Texts are empty where the source has none; dates are YYYY-MM-DD. */
export interface Exclusion {
  readonly program: string;
  readonly type: string;
  readonly agency: string;
  /** The first day; empty where the exclusion has begun. */
  readonly active_date: string;
  /** The last day, or `indefinite`. */
  readonly termination_date: string;
  /** Absent where it was stored before effects were known; that counts as `bar`. */
  readonly effect?: ExclusionEffect;
  /** The source's comment; absent where it has none. */
  readonly comment?: string;
  /** A row of the exclusions file that names no UEI. Beside the API's answer to a UEI it still counts. */
  readonly without_uei?: true;
}

/** A vendor's exclusions, as their source lists them. */
export interface ExclusionsPart extends PartSource {
  /** The source says that there are exclusions beside the named ones. */
  readonly flagged: boolean;
  /** The exclusions that have not ended. */
  readonly exclusions: readonly Exclusion[];
}

/** The known parts of a registration; an unknown part is absent. */
export interface Parts {
  readonly registration?: RegistrationPart;
  readonly exclusions?: ExclusionsPart;
}

const FILE_ORIGINS: readonly string[] = ["sam_gov_extract", "sam_gov_exclusions"];

/** Returns the day of a part's data (YYYY-MM-DD): the cut date of a file, else the registry's day of the answer. */
export function dayOfPart({ origin, date }: PartSource): string {
  return FILE_ORIGINS.includes(origin) ? utcDay(date) : registryDay(date);
}

/**
 * Returns true where a part may be used. A part that is dated later than tomorrow (UTC), or that comes from a withdrawn load,
 * counts as older than any other.
 */
export function isTrusted(part: PartSource, options: { now: Date; withdrawnLoads: readonly string[] }): boolean {
  return utcDay(part.date) <= addDays(utcDay(options.now), 1) && !options.withdrawnLoads.includes(part.load);
}

/** Returns the newer of each part; of equally new ones, `received`. A part that only one side has is taken from there. */
export function newestParts(known: Parts, received: Parts): Parts {
  const registration = newer(known.registration, received.registration);
  const exclusions = newer(known.exclusions, received.exclusions);
  return { ...(registration && { registration }), ...(exclusions && { exclusions }) };
}

function newer<Part extends PartSource>(known: Part | undefined, received: Part | undefined): Part | undefined {
  if (!known || !received) return received ?? known;
  return known.date > received.date ? known : received;
}
