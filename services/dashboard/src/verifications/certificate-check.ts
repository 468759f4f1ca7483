import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf } from "@vvs/checks";
import { containsTin } from "@vvs/identifiers";
import { exactTime } from "@vvs/registration";
import { RECEIPTS_PATH } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { inputField, VERBATIM } from "../ui/fields.ts";
import { checkTitle, facts, type Notice, noticeBox, outcomeState, state } from "../ui/parts.ts";
import { verdictOf } from "../verdicts/verdict.ts";
import { askedFacts } from "./asked-about.ts";
import { type CertificateView, type CertifiedResult, identifiersThen } from "./certificate.ts";

/** What was typed from a printed certificate; empty where nothing was. */
interface TypedFromCertificate {
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
function compareWithStored(
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

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** The page that compares a certificate with what is stored, and computes its hashes again from the stored evidence. */
export function certificateCheckPage(options: CertificateView & { readonly typed: TypedFromCertificate }): Html {
  const { visit, verification, vendor, asked, results, typed } = options;
  const path = `${visit.view.path}/verifications/${verification.id}`;
  return html`<p class="path"><a href="${path}">Verification</a> › <a href="${path}/certificate">Certificate</a></p>
<h1>Check a certificate</h1>
<p>If the certificate has a receipt, <a href="${RECEIPTS_PATH}">checking that</a> proves more, and needs no account.</p>
${compareWithStored(typed, options).map(noticeBox)}
${form(path, typed)}
<section class="card" aria-labelledby="stored">
<h2 id="stored">What is stored</h2>
<p>Compare this with the certificate. Each SHA-256 was just computed again from the stored evidence.</p>
${options.warning}
${facts([
  ["Vendor", html`${vendor?.legalName ?? ""} <code>${verification.entityId}</code>`],
  ...identifiersThen(vendor),
  ...askedFacts(asked),
  ["Verified", exactTime(timestampDate(verification.createdAt!))],
  ["Overall result", outcomeState(verification.overallResult)],
])}
${results.map((each) => stored(each, options))}
</section>`;
}

function form(path: string, { sha256, tin, name, registeredName }: TypedFromCertificate): Html {
  const field = (id: string, label: string, value: string, attributes: Html, hint?: string) =>
    inputField({ name: id, label, attributes: html`${attributes}${VERBATIM}`, value, ...(hint && { hint }) });
  const wide = html` class="wide" maxlength="300"`;
  return html`<form method="get" action="${path}/certificate/check" class="card" aria-label="What the certificate shows">
  <p class="hint">Type or paste what the certificate shows. Every field is optional.</p>
  ${field("name", "Name asked about", name, wide)}
  ${field("registered_name", "Registered name", registeredName, wide)}
  ${field("tin", "TIN asked about", tin, html` maxlength="8"`, "As printed, such as ****1234. Never the whole TIN.")}
  ${field("sha256", "SHA-256 on the certificate", isHash(sha256) ? sha256 : "", html` class="wide" maxlength="200"`)}
  <button>Compare</button>
</form>`;
}

function stored({ result, checked }: CertifiedResult, { visit, verification }: CertificateView): Html {
  const at = timestampDate(verification.createdAt!);
  const check = checkOf(result.checkType);
  return html`<h3>${checkTitle(result.checkType)}</h3>
${facts([
  ["Answer", verdictOf(check, { result, at }, at).text],
  [
    "Evidence",
    result.evidenceId &&
      html`<a href="${visit.view.path}/evidence/${result.evidenceId}"><code>${result.evidenceId}</code></a>`,
  ],
  ["SHA-256", checked && hashState(checked)],
])}`;
}

function hashState(checked: NonNullable<CertifiedResult["checked"]>): Html {
  if (checked.kind === "deleted") return html`The evidence was deleted, because its time was over.`;
  if (checked.kind === "unreadable")
    return html`${state("fail", "can’t be read")} Contact the operator of this service.`;
  const { evidence, isIntact } = checked;
  return html`<code>${evidence.sha256}</code> ${isIntact ? state("pass", "unaltered") : state("fail", "altered")}`;
}
