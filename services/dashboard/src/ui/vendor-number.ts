import { containsTin } from "@vvs/identifiers";
import { textProblem } from "@vvs/identifiers/text";
import { type Html, html } from "../http/html.ts";
import { inputField, VERBATIM } from "./fields.ts";

const MAX_CHARACTERS = 255;

/** Reads the organization's own number of a vendor; "" if there is none. */
export function readVendorNumber(typed: string): { externalId: string; problem?: string } {
  const externalId = typed.trim();
  if ([...externalId].length > MAX_CHARACTERS) return { externalId, problem: "Enter at most 255 characters." };
  const problem = externalId === "" ? undefined : textProblem(externalId);
  return { externalId, ...(problem && { problem: `Your vendor number ${problem}.` }) };
}

/** Returns the part of a refused number that may be shown again: not one that looks like a TIN. */
export function echoOfVendorNumber(typed: string): string {
  return containsTin(typed) ? "" : typed.trim();
}

export function vendorNumberField({ value, problem }: { value: string; problem: string | undefined }): Html {
  return inputField({
    name: "external_id",
    label: "Your vendor number",
    attributes: html` maxlength="${MAX_CHARACTERS}"${VERBATIM}`,
    value,
    hint: html`Optional. The number of this vendor in your own system. Events and webhooks contain it as <code>external_id</code>. It must not be the vendor’s TIN.`,
    problem,
  });
}
