import type { ExclusionEffect } from "@vvs/registration";
import type { ObjectId } from "mongodb";
import type { IsoDate } from "./dates.ts";

/**
 * A row of the exclusions files that names neither a UEI nor a CAGE, by the name that it bears, while one file after another
 * has it: a row that comes back later is another document.
 */
export interface ExcludedNameDocument {
  readonly _id: ObjectId;
  /** Hash of what the row states. */
  readonly key: string;
  /** As the file writes it; a person's first, middle and last name. */
  readonly name: string;
  /** Keys of the name, or of the names that it contains (`nameKeys`). */
  readonly name_keys: readonly string[];
  /** The version of the rules that made the keys (`MATCH_VERSION`). */
  readonly match_version: number;
  readonly exclusion_type: string;
  readonly program: string;
  readonly agency: string;
  readonly effect: ExclusionEffect;
  readonly active_date?: IsoDate;
  /** Absent where the row has none, which means the same as `indefinite`. */
  readonly termination_date?: IsoDate | "indefinite";
  /** The first load that had the row, and its file's cut date. */
  readonly added_by: string;
  readonly first_seen: IsoDate;
  /** The first load that lacked the row, and the cut dates of its file and of the last that had it. Absent until then. */
  readonly ended_by?: string;
  readonly ended_on?: IsoDate;
  readonly last_seen?: IsoDate;
}
