import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { checkDefinitions, checkOf } from "@vvs/checks";
import { reasonMeaning } from "@vvs/checks/words";
import type { Confirmations } from "@vvs/proto/monitor/v1/monitor";
import { Mode, type Result, type Verification } from "@vvs/proto/verification/v1/verification";
import { exactTime, longDay, registryDay, utcDay } from "@vvs/registration";
import type { Request } from "express";
import { pathId, RECEIPTS_PATH } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { unlessRefused } from "../http/refusal.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { readKeys } from "../page/panels.ts";
import { actorView } from "../ui/actor.ts";
import { checkTitle, facts, outcomeState, section } from "../ui/parts.ts";
import { counted, providerName } from "../ui/vocabulary.ts";
import { certifiedDecision } from "../verdicts/certified-decision.ts";
import { noChangeText } from "../verdicts/confirmed-words.ts";
import { readScheduledRuns } from "../verdicts/read-confirmed.ts";
import { sameNameTexts } from "../verdicts/same-name-rows.ts";
import { dataDate, verdictOf } from "../verdicts/verdict.ts";
import { askedAbout, askedFacts, askedWarning, readVendorThen, type VendorThen } from "./asked-about.ts";
import { type CheckedEvidence, checkEvidence, sourceList } from "./evidence.ts";
import { sameNameList } from "./same-name-list.ts";

/** Creates the handlers of the printable certificate of a verification, and of its receipt. */
export function createCertificateHandlers(context: PageContext) {
  const { verification, layout } = context;
  return {
    async view(request, response, visit) {
      const certificate = await readCertificate(context, request, visit);
      const parents = [[`/verifications/${certificate.verification.id}`, "Verification"]] as const;
      const content = certificatePage(certificate);
      layout.sendPage(response, { visit, title: "Certificate", heading: false, parents, content });
    },

    async receipt(request, response, visit) {
      const verificationId = pathId(request, "verification_id", "ver");
      const issuer = issuerOf(context);
      const { receipt } = await verification.getReceipt({ caller: visit.caller, verificationId, issuer });
      response.set({
        "content-type": "application/jwt",
        "content-disposition": `attachment; filename="${verificationId}.jwt"`,
      });
      response.send(Buffer.from(receipt, "utf8"));
    },
  } satisfies PageHandlers;
}

const issuerOf = ({ apiBaseUrl }: PageContext) => apiBaseUrl.href.replace(/\/+$/, "");

type CertificateView = Awaited<ReturnType<typeof readCertificate>>;

async function readCertificate(context: PageContext, request: Request, visit: Visit) {
  const { url } = context;
  const verificationId = pathId(request, "verification_id", "ver");
  const { verification: found } = await context.verification.getVerification({ caller: visit.caller, verificationId });
  const verification = found!;
  const asked = askedAbout(verification);
  const [vendor, keys, confirmed, receipt, results] = await Promise.all([
    readVendorThen(context, visit, verification),
    readKeys(context, visit),
    readConfirmed(context, visit, verification),
    readReceipt(context, visit, verificationId),
    Promise.all(
      verification.results.map(async (result) => ({
        result,
        checked: result.evidenceId === "" ? undefined : await checkEvidence(context, visit, result.evidenceId),
      })),
    ),
  ]);
  return {
    ...{ visit, verification, vendor, asked, results, confirmed, receipt },
    actor: actorView(verification.actor, { session: visit.session, keys }),
    warning: askedWarning(asked, vendor?.legalName ?? ""),
    decision: certifiedDecision(verification),
    url: new URL(`${visit.view.path}/verifications/${verificationId}/certificate`, url).href,
    receiptsUrl: new URL(RECEIPTS_PATH, url).href,
  };
}

/** Reads the receipt; undefined where the operator has configured no keys, and while it is unavailable. */
async function readReceipt(context: PageContext, visit: Visit, verificationId: string): Promise<string | undefined> {
  const request = { caller: visit.caller, verificationId, issuer: issuerOf(context) };
  const found = await context.readPanel(visit, "receipt of a verification", (options) =>
    unlessRefused(context.verification.getReceipt(request, options), "not_found"),
  );
  return found?.receipt;
}

/** Reads the scheduled checks that confirmed a monitor's verification; undefined where there were none, and while unavailable. */
async function readConfirmed(
  context: PageContext,
  visit: Visit,
  { id, entityId, actor, createdAt }: Verification,
): Promise<Confirmations | undefined> {
  if (!actor.startsWith("mon_")) return undefined;
  const before = new Date(timestampMs(createdAt!) + 1);
  const found = await context.readPanel(visit, "scheduled checks after a verification", (options) =>
    readScheduledRuns(context, visit, { entityIds: [entityId], before }, options),
  );
  return found?.get(entityId)?.find(({ verificationId }) => verificationId === id)?.confirmed;
}

/** The printable page that shows what was asked about a vendor, of which source, the answer, when and by whom. */
function certificatePage(options: CertificateView): Html {
  const { visit, verification, vendor, asked, results, confirmed, receipt } = options;
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
${confirmed && since(confirmed)}
${section("checking", "How to check this certificate")`<p>Sign in as a member of ${visit.session.organizationName}, and open <a class="url" href="${path}/certificate">${options.url}</a>. The page shows what is stored: compare it with what is printed here. It computes the SHA-256 of the evidence again, and says so where the evidence was altered.</p>`}
${receipt && receiptSection(receipt, options)}
</article>`;
}

function receiptSection(receipt: string, { visit, verification, receiptsUrl }: CertificateView): Html {
  const path = `${visit.view.path}/verifications/${verification.id}`;
  return section("receipt", "Receipt")`
<p>This text is signed by the service. It proves the results above to people without an account: they paste it at <a class="url" href="${RECEIPTS_PATH}">${receiptsUrl}</a>, or check it offline.</p>
<pre class="receipt" tabindex="0" aria-label="Receipt"><code>${receipt}</code></pre>
<p class="unprinted"><a class="button quiet" href="${path}/receipt">Download the receipt</a></p>`;
}

function since(confirmed: Confirmations): Html {
  return section("since", "Since then", "certified")`<p><strong>${noChangeText(confirmed)}</strong></p>
<p class="hint">The monitor made ${counted(confirmed.times, "scheduled check")} of stored data. They asked no source, and have no evidence of their own.</p>`;
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

function certified({ result, checked }: CertificateView["results"][number], { verification }: CertificateView): Html {
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
