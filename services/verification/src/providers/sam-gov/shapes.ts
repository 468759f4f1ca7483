import { isDay, type PartSource } from "@vvs/registration";
import { z } from "zod";

/** A text. Absent, null, blanks and the word "null" all mean that there is none, and become "". */
export const optionalText = z
  .string()
  .nullish()
  .transform((value) => {
    const text = (value ?? "").trim();
    return text === "null" ? "" : text;
  });

/** A text that must not be empty. */
export const requiredText = optionalText.refine((text) => text !== "");

/** A code in upper case, "" where there is none. */
export const optionalCode = optionalText.transform((text) => text.toUpperCase());

/** A date of the Entity Management API, YYYY-MM-DD; "" where there is none. */
export const entityDate = optionalText.refine((text) => text === "" || isDay(text));

/** A date of the Exclusions API, MM-DD-YYYY, as YYYY-MM-DD; "" where there is none. */
export const exclusionDate = optionalText
  .transform((text) => text.replace(/^(\d{2})-(\d{2})-(\d{4})$/, "$3-$1-$2"))
  .refine((text) => text === "" || isDay(text));

/** One page of a list: the number of all rows, and the rows of this page. */
export interface Page<Row> {
  readonly totalRecords: number;
  readonly rows: readonly Row[];
}

/** Returns the source of a part that SAM.gov's APIs gave at this moment. */
export function apiSource(receivedAt: Date): PartSource {
  return { origin: "sam_gov_api", date: receivedAt, load: "" };
}
