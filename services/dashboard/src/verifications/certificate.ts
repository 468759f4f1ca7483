import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkDefinitions, checkOf } from "@vvs/checks";
import { reasonMeaning } from "@vvs/checks/words";
import type { Confirmations } from "@vvs/proto/monitor/v1/monitor";
import { Mode, type Result, type Verification } from "@vvs/proto/verification/v1/verification";
import { exactTime, longDay, registryDay, utcDay } from "@vvs/registration";
import { RECEIPTS_PATH } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { ActorView } from "../ui/actor.ts";
import { checkTitle, facts, outcomeState } from "../ui/parts.ts";
import { providerName } from "../ui/vocabulary.ts";
import { noChangeText } from "../verdicts/confirmed-words.ts";
import { sameNameTexts } from "../verdicts/same-name-rows.ts";
import { dataDate, verdictOf } from "../verdicts/verdict.ts";
import type { VendorThen } from "./asked-about.ts";
import { type AskedAbout, askedFacts } from "./asked-about.ts";
import type { CheckedEvidence } from "./evidence.ts";
import { sourceList } from "./evidence.ts";
import { sameNameList } from "./same-name-list.ts";

/** A result, with its evidence read and checked; undefined where it has none. */
interface CertifiedResult {
  readonly result: Result;
  readonly checked: CheckedEvidence | undefined;
}

export interface CertificateView {
  readonly visit: Visit;
  readonly verification: Verification;
  /** Undefined if the organization can no longer see the vendor. */
  readonly vendor: VendorThen | undefined;
  readonly asked: AskedAbout;
  /** What it says of a payment, in words; undefined where that was not decided. */
  readonly decision: string | undefined;
  /** Shown where the certificate does not prove what a reader may think. */
  readonly warning: Html | undefined;
  readonly results: readonly CertifiedResult[];
  readonly actor: ActorView;
  /** The scheduled checks of its monitor that found the same since; undefined where there were none, and while unavailable. */
  readonly confirmation: Confirmations | undefined;
  /** The address of the certificate. */
  readonly url: string;
  /** Undefined where the operator has configured no keys, and while unavailable. */
  readonly receipt: string | undefined;
  /** The address of the page that checks receipts. */
  readonly receiptsUrl: string;
}

/** The printable page that shows what was asked about a vendor, of which source, the answer, when and by whom. */
export function certificatePage(options: CertificateView): Html {
  const { visit, verification, vendor, asked, results, confirmation, receipt } = options;
  const path = `${visit.view.path}/verifications/${verification.id}`;
  const at = timestampDate(verification.createdAt!);
  return html`<div class="choices unprinted"><button type="button" data-print hidden>Print</button></div>
<article class="certificate">
<p class="eyebrow unprinted">${visit.session.organizationName}</p>
<div class="heading"><h1>Certificate of verification</h1> ${outcomeState(verification.overallResult)}</div>
${visit.view.environment !== "live" && html`<p class="notice warning">Test environment: the answers are invented. This proves nothing about a real vendor.</p>`}
${options.warning}
${facts([
  ["Vendor", html`<strong>${vendor?.legalName ?? verification.entityId}</strong>`],
  ...identifiersThen(vendor),
  ...askedFacts(asked),
  ["Decision", options.decision && html`<strong>${options.decision}</strong>`],
  ["Vendor ID", html`<code>${verification.entityId}</code>`],
  ["Verified", exactTime(at)],
  ["Requested by", requestedBy(options)],
  ["Verification ID", html`<code>${verification.id}</code>`],
])}
<p class="hint">Everything above is as it was when the verification was stored, and so are the results below.</p>
${results.map((each) => certified(each, options))}
${confirmation && since(confirmation)}
<section aria-labelledby="checking">
<h2 id="checking">How to check this certificate</h2>
<p>Sign in as a member of ${visit.session.organizationName}, and open <a class="url" href="${path}/certificate">${options.url}</a>. The page shows what is stored: compare it with what is printed here. It computes the SHA-256 of the evidence again, and says so where the evidence was altered.</p>
</section>
${receipt && receiptSection(receipt, options)}
</article>`;
}

function receiptSection(receipt: string, { visit, verification, receiptsUrl }: CertificateView): Html {
  const path = `${visit.view.path}/verifications/${verification.id}`;
  return html`<section aria-labelledby="receipt">
<h2 id="receipt">Receipt</h2>
<p>This text is signed by the service. It proves the results above to people without an account: they paste it at <a class="url" href="${RECEIPTS_PATH}">${receiptsUrl}</a>, or check it offline.</p>
<pre class="receipt" tabindex="0" aria-label="Receipt"><code>${receipt}</code></pre>
<p class="unprinted"><a class="button quiet" href="${path}/receipt">Download the receipt</a></p>
</section>`;
}

function since(confirmation: Confirmations): Html {
  const { times } = confirmation;
  const checks = times === 1 ? "1 scheduled check" : `${times} scheduled checks`;
  return html`<section class="certified" aria-labelledby="since">
<h2 id="since">Since then</h2>
<p><strong>${noChangeText(confirmation)}</strong></p>
<p class="hint">The monitor made ${checks} of stored data. They asked no source, and have no evidence of their own.</p>
</section>`;
}

/** Renders the identifiers that a vendor had when it was verified, for `facts`. */
function identifiersThen(vendor: VendorThen | undefined): Parameters<typeof facts>[0] {
  return vendor?.identifiers.map(({ label, value }) => [label, html`<code>${value}</code>`] as const) ?? [];
}

function requestedBy({ actor: { kind, name, id }, verification: { mode } }: CertificateView): Html {
  const who =
    kind === "unknown" ? html`<code>${id}</code>` : html`${kind}${name && html`, ${name}`} <code>${id}</code>`;
  return mode === Mode.CACHED ? html`${who}, who accepted a stored answer` : who;
}

function certified({ result, checked }: CertifiedResult, { verification }: CertificateView): Html {
  const check = checkOf(result.checkType);
  const at = timestampDate(verification.createdAt!);
  const date = dataDate({ result, at });
  const sameNames = sameNameTexts(result, registryDay(at));
  return html`<section class="certified" aria-labelledby="check-${result.checkType}">
<div class="heading"><h2 id="check-${result.checkType}">${checkTitle(result.checkType)}</h2> ${outcomeState(result.status)}</div>
${facts([
  ["Question", check && checkDefinitions[check].question],
  ["Answer", html`<strong>${verdictOf(check, { result, at }, at).text}</strong>`],
  ["Data as of", date && longDay(utcDay(date))],
  ["As registered", registered(result)],
  ["Exclusions of the same name", sameNames.length > 0 && sameNameList(sameNames)],
  ...evidenceFacts(checked),
  ["Evidence ID", result.evidenceId && html`<code>${result.evidenceId}</code>`],
])}
</section>`;
}

function registered({ details }: Result): string | undefined {
  const { legalName, cage, entityType } = details ?? {};
  return [legalName, cage && `CAGE ${cage}`, entityType].filter(Boolean).join(", ") || undefined;
}

function evidenceFacts(checked: CheckedEvidence | undefined): Parameters<typeof facts>[0] {
  if (!checked) return [];
  if (checked.kind === "deleted") return [["Evidence", "Deleted, because its time was over."]];
  if (checked.kind === "unreadable")
    return [
      ["Evidence", html`<span class="field-problem">It can’t be read. Contact the operator of this service.</span>`],
    ];
  const { evidence, isIntact } = checked;
  const attempts = evidence.attempts.filter(({ outcome }) => outcome === "throw");
  return [
    ["Source", sourceList(evidence)],
    [
      "Without answer",
      attempts.length > 0 &&
        html`<ul class="plain">${attempts.map(({ provider, reason }) => html`<li>${providerName(provider)}: ${reasonMeaning(reason) ?? reason}</li>`)}</ul>`,
    ],
    ["Evidence stored", exactTime(timestampDate(evidence.createdAt!))],
    [
      "SHA-256",
      html`<code class="hash">${evidence.sha256}</code>${!isIntact && html` <span class="field-problem">The stored evidence no longer has this hash. Do not rely on it.</span>`}`,
    ],
  ];
}
