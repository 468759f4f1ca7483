import { z } from "@vvs/config";
import { containsTin } from "@vvs/identifiers";

/** A text that is trimmed, not empty, of at most so many characters, and holds nothing that can't be stored. */
export function text(maxCharacters = Number.POSITIVE_INFINITY) {
  return z
    .string()
    .trim()
    .min(1, "must not be empty")
    .refine((value) => [...value].length <= maxCharacters, `must be at most ${maxCharacters} characters`)
    .refine((value) => !value.includes("\u0000"), "must not contain NUL characters")
    .refine((value) => value.isWellFormed(), "must be valid Unicode");
}

/** A text that is stored and shown as it is, where a taxpayer's number must not be. */
export function textWithoutTin(maxCharacters: number) {
  return text(maxCharacters).refine(
    (value) => !containsTin(value),
    "must not contain what looks like a taxpayer identification number: send it as identifiers.tin",
  );
}
