import { checkNames } from "@vvs/checks";
import { z } from "@vvs/config";
import type { IdPrefix } from "@vvs/ids";

/** The text of an id: its prefix and a UUIDv7 in base32. */
export function idPattern(prefix: IdPrefix): string {
  return `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
}

/** An id in an answer. */
export function id(prefix: IdPrefix, description: string) {
  return z
    .string()
    .regex(new RegExp(idPattern(prefix)))
    .describe(description);
}

/** A text in an answer. */
export const text = (description: string) => z.string().describe(description);

/** A time in an answer. */
export function time(description: string) {
  return z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .meta({ format: "date-time", description: `${description} RFC 3339 in UTC, with milliseconds.` });
}

/** A day in an answer. */
export function day(description: string) {
  return z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .meta({ format: "date", description });
}

/** A number from 0 to 1. */
export const confidence = z.number().min(0).max(1).describe("Certainty, from 0 to 1.");

/** The name of a check, in requests and answers. */
export const checkType = z.enum(checkNames).meta({
  id: "CheckType",
  description:
    "`sam_registration`: is the vendor registered in SAM.gov, unexpired and not excluded? " +
    "`tin_match`: do its name and TIN match in the IRS’s records?",
});

/** The outcome of a check or of a verification. */
export const checkStatus = z.enum(["pass", "fail", "error"]).meta({
  id: "CheckStatus",
  description: "`error` says nothing about the vendor: no provider answered, or the check lacks an input.",
});

/** A page of a list, which `shape` is. */
export function page<Shape extends z.ZodRawShape>(name: string, of: string, shape: Shape) {
  const next = z.string().nullable().describe("Send it as `cursor` to read the next page; null on the last page.");
  return z.object({ ...shape, next_cursor: next }).meta({ id: `${name}Page`, description: `A page of ${of}.` });
}
