import { irsName } from "@vvs/identifiers/irs-name";
import { namesAgree, normalizeName } from "./normalize-name.ts";

/** Returns whether a name that a check asked about is a vendor's, except for its spelling, or for what the IRS is not sent. */
export function isSameName(asked: string, own: string): boolean {
  return asked === own || asked === irsName(own) || namesAgree(normalizeName(asked), normalizeName(own));
}
