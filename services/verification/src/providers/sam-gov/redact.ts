import { maskTin } from "@vvs/identifiers";

/** Names of members that hold a taxpayer's number; the public tier has none of them. */
const TIN_MEMBER = /("(?:taxpayerIdentificationNumber|ssnOrTinOrEin)"\s*:\s*")([^"]*)"/gi;

/** A body fit to be kept: no key in its links or anywhere else, no TIN in clear. All else is as received. */
export function redact(text: string, apiKey: string): string {
  return text
    .replaceAll(apiKey, "removed")
    .replaceAll(/([?&]api_key=)[^&"\\\s]*/gi, "$1removed")
    .replaceAll(TIN_MEMBER, (_whole, member: string, tin: string) => `${member}${maskTin(tin)}"`);
}
