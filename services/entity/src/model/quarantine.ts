import type { IsoDate } from "./dates.ts";

/** A row that was not applied, and why. */
export interface QuarantineDocument {
  readonly load_id: string;
  readonly line_number: number;
  readonly reason: string;
  /** Of a row of an exclusions file. */
  readonly row?: {
    /** Hash of its text, by which it is recognized in the next file. */
    readonly hash: string;
    /** The first of the files in a row that had it. */
    readonly since: { readonly load_id: string; readonly cut_date: IsoDate };
    /** Nothing in it says whose it is. */
    readonly is_anyones: boolean;
  };
}
