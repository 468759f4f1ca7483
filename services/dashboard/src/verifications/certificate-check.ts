import { containsTin } from "@vvs/identifiers";
import { checkTitle } from "../ui/checks.ts";
import type { Notice } from "../ui/parts.ts";
import type { CertificateView, CertifiedResult } from "./certificate-page.ts";

/** What was typed from a printed certificate; empty where nothing was. */
export interface TypedFromCertificate {
  readonly sha256: string;
  readonly tin: string;
  readonly name: string;
  readonly registeredName: string;
}

/** Reads what was typed, in the form that is stored; a text that holds a whole TIN is not kept. */
export function readTyped(read: (field: string) => string): TypedFromCertificate {
  const text = (field: string) => {
    const typed = read(field).replaceAll(/\s+/g, " ").trim();
    return containsTin(typed) ? "" : typed;
  };
  return {
    sha256: read("sha256").replaceAll(/\s/g, "").toLowerCase(),
    tin: text("tin"),
    name: text("name"),
    registeredName: text("registered_name"),
  };
}

/** Returns what is said about each part that was typed from a certificate. */
export function compareWithStored(
  typed: TypedFromCertificate,
  { asked, results, vendor }: Pick<CertificateView, "asked" | "results" | "vendor">,
): Notice[] {
  const registered = asked.registeredName || (vendor?.legalName ?? "");
  return [
    typed.name && textNotice("name asked about", typed.name, asked.name),
    typed.tin && textNotice("TIN asked about", lastFour(typed.tin), lastFour(asked.tin)),
    typed.registeredName && textNotice("registered name", typed.registeredName, registered),
    typed.sha256 && hashNotice(typed.sha256, results),
  ].filter((notice) => notice !== "");
}

function textNotice(what: string, typed: string, stored: string): Notice {
  if (stored === "") return { kind: "problem", text: `No ${what} is stored with this verification.` };
  return typed.toLowerCase() === stored.replaceAll(/\s+/g, " ").trim().toLowerCase()
    ? { kind: "done", text: `The ${what} is the one that is stored.` }
    : { kind: "problem", text: `The ${what} is not the one that is stored. Do not rely on the printed certificate.` };
}

/** Masked TINs differ only in their last four digits, so it is enough to type those. */
const lastFour = (tin: string) => tin.replaceAll(/[^0-9]/g, "").slice(-4);

function hashNotice(hash: string, results: readonly CertifiedResult[]): Notice {
  const problem = (text: string): Notice => ({ kind: "problem", text });
  if (!isHash(hash)) return problem("A SHA-256 has 64 digits and letters from a to f. Check what you typed.");
  const matching = results.find(({ checked }) => checked?.kind === "found" && checked.evidence.sha256 === hash);
  if (!matching) {
    return problem("No evidence of this verification has this hash. Do not rely on the printed certificate.");
  }
  const title = checkTitle(matching.result.checkType);
  if (matching.checked?.kind === "found" && !matching.checked.isIntact) {
    return problem(`This is the hash of ${title}, but the stored evidence was altered. Do not rely on it.`);
  }
  return { kind: "done", text: `This is the hash of ${title}, and the stored evidence matches it.` };
}

export const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);
