import { irsName } from "@vvs/identifiers/irs-name";
import { nameAgrees } from "./name-agrees.ts";

/** Returns whether a name that a check asked about is a vendor's, by the rule of payments, or except for what the IRS is not sent. */
export function isSameName(asked: string, own: string): boolean {
  return asked === own || asked === irsName(own) || nameAgrees(asked, [own]);
}
