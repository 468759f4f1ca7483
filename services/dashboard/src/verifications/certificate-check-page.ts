import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf } from "@vvs/checks";
import { exactTime } from "@vvs/registration";
import { type Html, html } from "../http/html.ts";
import { checkTitle, outcomeState } from "../ui/checks.ts";
import { inputField, VERBATIM } from "../ui/fields.ts";
import { facts, noticeBox, state } from "../ui/parts.ts";
import { verdictOf } from "../ui/verdict.ts";
import { askedFacts } from "./asked-about.ts";
import { compareWithStored, isHash, type TypedFromCertificate } from "./certificate-check.ts";
import { type CertificateView, type CertifiedResult, identifiersThen } from "./certificate-page.ts";

/** The page that compares a certificate with what is stored, and computes its hashes again from the stored evidence. */
export function certificateCheckPage(options: CertificateView & { readonly typed: TypedFromCertificate }): Html {
  const { visit, verification, vendor, asked, results, typed } = options;
  const path = `${visit.view.path}/verifications/${verification.id}`;
  return html`<p class="path"><a href="${path}">Verification</a> › <a href="${path}/certificate">Certificate</a></p>
<h1>Check a certificate</h1>
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
