import { z } from "@vvs/config";
import { containsTin } from "@vvs/identifiers";
import { text, textWithoutTin } from "./text.ts";

export const MAX_ADDRESS_CHARACTERS = 500;

const part = () => textWithoutTin(MAX_ADDRESS_CHARACTERS);

/** The address of an entity to create. */
export const postalAddress = z.strictObject({
  line1: part(),
  line2: part().optional(),
  city: part(),
  state: part(),
  zip: text(MAX_ADDRESS_CHARACTERS).refine(
    (value) => !containsTin(value),
    "must not be nine digits in a row, as a taxpayer's number is: write ZIP+4 as 12345-6789",
  ),
  country: part(),
});
