import { z } from "@vvs/config";
import { containsTin } from "@vvs/identifiers";
import { readableText, textWithoutTin } from "./text.ts";

export const MAX_ADDRESS_CHARACTERS = 500;

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
