import { maskTin } from "@vvs/identifiers";

/** JSON members that hold a TIN. The public APIs return none of them. */
const TIN_MEMBER = /("(?:taxpayerIdentificationNumber|ssnOrTinOrEin)"\s*:\s*")([^"]*)"/gi;

/** Removes keys and masks TINs in a body, so that it can be stored. Everything else stays as received. */
export function redact(text: string, apiKey: string): string {
  return text
    .replaceAll(apiKey, "removed")
    .replaceAll(/([?&]api_key=)[^&"\\\s]*/gi, "$1removed")
    .replaceAll(TIN_MEMBER, (_whole, member: string, tin: string) => `${member}${maskTin(tin)}"`);
}
