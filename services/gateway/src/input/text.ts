import { z } from "@vvs/config";
import { containsTin } from "@vvs/identifiers";
import { textProblem } from "@vvs/identifiers/text";
import { repairControls } from "@vvs/identifiers/written-name";
import { oneLinePattern, readablePattern, textPattern } from "./patterns.ts";

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
