import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf } from "@vvs/checks";
import { type Html, html } from "../http/html.ts";
import { checkTitle, outcomeState } from "../ui/checks.ts";
import { exactTime } from "../ui/dates.ts";
import { inputField, VERBATIM } from "../ui/fields.ts";
import { facts, type Notice, noticeBox, state } from "../ui/parts.ts";
import { verdictOf } from "../ui/verdict.ts";
import type { CertificateView, CertifiedResult } from "./certificate-page.ts";

/** Returns a typed or pasted SHA-256 in the form that is stored; "" where it is none. */
function readHash(typed: string): string {
  const hash = typed.replaceAll(/\s/g, "").toLowerCase();
  return /^[0-9a-f]{64}$/.test(hash) ? hash : "";
}

/** Returns what is said about a hash that was typed from a certificate; undefined if none was. */
function hashNotice(typed: string, results: readonly CertifiedResult[]): Notice | undefined {
  if (typed.trim() === "") return undefined;
  const hash = readHash(typed);
  if (!hash) return { kind: "problem", text: "A SHA-256 has 64 digits and letters from a to f. Check what you typed." };
  const matching = results.find(({ checked }) => checked?.kind === "found" && checked.evidence.sha256 === hash);
  if (!matching) {
    return {
      kind: "problem",
      text: "No evidence of this verification has this hash. Do not rely on the printed certificate.",
    };
  }
  const title = checkTitle(matching.result.checkType);
  if (matching.checked?.kind === "found" && !matching.checked.isIntact) {
    return {
      kind: "problem",
      text: `This is the hash of ${title}, but the stored evidence was altered. Do not rely on it.`,
    };
  }
  return { kind: "done", text: `This is the hash of ${title}, and the stored evidence matches it.` };
}

/** The page that computes the hashes of a certificate again from the stored evidence. */
export function certificateCheckPage(options: CertificateView & { readonly typed: string }): Html {
  const { visit, verification, vendor, results, typed } = options;
  const path = `${visit.view.path}/verifications/${verification.id}`;
  return html`<p class="path"><a href="${path}">Verification</a> › <a href="${path}/certificate">Certificate</a></p>
<h1>Check a certificate</h1>
${noticeBox(hashNotice(typed, results))}
<form method="get" action="${path}/certificate/check" class="card">
  ${inputField({
    name: "sha256",
    label: "SHA-256 on the certificate",
    attributes: html` class="wide" maxlength="200"${VERBATIM}`,
    value: readHash(typed),
    hint: "Type or paste one from the certificate to compare it with the stored evidence.",
  })}
  <button>Compare</button>
</form>
<section class="card" aria-labelledby="stored">
<h2 id="stored">What is stored</h2>
<p>Compare this with the certificate. Each SHA-256 was just computed again from the stored evidence.</p>
${facts([
  ["Vendor", html`${vendor?.legalName ?? ""} <code>${verification.entityId}</code>`],
  ["Verified", exactTime(timestampDate(verification.createdAt!))],
  ["Overall result", outcomeState(verification.overallResult)],
])}
${results.map((each) => stored(each, options))}
</section>`;
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
