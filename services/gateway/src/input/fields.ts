import { toCheckType } from "@vvs/checks";
import { z } from "@vvs/config";
import { containsTin } from "@vvs/identifiers";
import { textProblem } from "@vvs/identifiers/text";
import { repairControls } from "@vvs/identifiers/written-name";
import { checkType, idPattern } from "../render/schemas.ts";
import { oneLinePattern, readablePattern, textPattern } from "./patterns.ts";

export const MAX_NAME_CHARACTERS = 300;
export const MAX_ADDRESS_CHARACTERS = 500;
export const MAX_CHECKS = 10;

function bounded(maxCharacters: number, read: (sent: string) => string = (sent) => sent) {
  return z
    .string()
    .refine((value) => [...value].length <= maxCharacters, `must be at most ${maxCharacters} characters`)
    .overwrite((sent) => read(sent).trim())
    .min(1, "must not be empty");
}

/** Accepts a text that is not empty and can be stored. Trims it. */
export function text() {
  return bounded(Number.POSITIVE_INFINITY)
    .refine((value) => !value.includes("\u0000"), "must not contain NUL characters")
    .refine((value) => value.isWellFormed(), "must be valid Unicode")
    .meta({ pattern: textPattern });
}

function oneLine(bound: ReturnType<typeof bounded>) {
  return bound.superRefine((value, context) => {
    const problem = value === "" ? undefined : textProblem(value);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem, input: value });
  });
}

/**
 * Accepts a name or an address that is not empty and has at most this many characters as sent. Repairs UTF-8 that was
 * read as Latin-1, whose control characters would be refused, and trims it.
 */
export function readableText(maxCharacters: number) {
  return oneLine(bounded(maxCharacters, repairControls)).meta({ maxLength: maxCharacters, pattern: readablePattern });
}

/** Accepts a client's own number of a vendor. Whether it is the vendor's TIN is known only to the entity service. */
export function externalId() {
  return oneLine(bounded(255))
    .meta({ maxLength: 255, pattern: oneLinePattern })
    .describe(
      "Your own number of the vendor, as it is in your systems. It need not be unique, and must not be the vendor’s TIN.",
    );
}

/** Accepts a name or an address that is stored and shown, so it must not contain a TIN. */
export function textWithoutTin(maxCharacters: number) {
  return readableText(maxCharacters).refine(
    (value) => !containsTin(value),
    "must not contain text that looks like a taxpayer identification number: send a TIN as identifiers.tin",
  );
}

/** ZIP+4 without its hyphen. It has nine digits, like a TIN. */
const NINE_DIGIT_ZIP = /^\d{9}$/;
const part = () => textWithoutTin(MAX_ADDRESS_CHARACTERS);

/** The address of an entity to create. */
export const postalAddress = z.strictObject({
  line1: part(),
  line2: part().optional(),
  city: part(),
  state: part(),
  zip: readableText(MAX_ADDRESS_CHARACTERS).refine(
    (value) => NINE_DIGIT_ZIP.test(value) || !containsTin(value),
    "must not look like a taxpayer identification number: write ZIP+4 as 12345-6789 or 123456789",
  ),
  country: part(),
});

/** The id of an entity. Other text is accepted too: it names no entity. */
export const entityId = text().meta({ pattern: idPattern("ent"), description: "Id of an entity that you can see." });

/** Accepts one or more checks and keeps their order. Duplicates are removed. */
export const checks = z
  .array(checkType)
  .min(1, "must not be empty")
  .max(MAX_CHECKS, `must have at most ${MAX_CHECKS} entries`)
  .transform((names) => [...new Set(names)].map(toCheckType))
  .meta({ description: "The checks, in the order of the results. Duplicates count once." });

/** Returns the value of an enum of the contracts that clients call `name`. */
export function enumValue<N extends string, E extends Record<Uppercase<N>, number>>(
  values: E,
  name: N,
): E[Uppercase<N>] {
  return values[name.toUpperCase() as Uppercase<N>];
}
