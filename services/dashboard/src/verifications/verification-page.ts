import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkDefinitions, checkOf } from "@vvs/checks";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { Mode, type Result, type Verification } from "@vvs/proto/verification/v1/verification";
import { type Html, html } from "../http/html.ts";
import type { ActorView } from "../ui/actor.ts";
import { checkName, statusName } from "../ui/checks.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { copyableId, facts, state, time } from "../ui/parts.ts";
import { verdictOf } from "../ui/verdict.ts";
import { age, providerName, reasonMeaning } from "../ui/vocabulary.ts";
import { identifierList } from "../vendors/identifiers.ts";
import type { Vendors } from "../vendors/vendors.ts";

export function verificationPage(options: {
  view: EnvironmentView;
  verification: Verification;
  /** Undefined while unavailable. */
  vendors: Vendors | undefined;
  actor: ActorView;
}): Html {
  const { view, verification, vendors, actor } = options;
  const vendor = vendors?.get(verification.entityId);
  return html`<p class="path"><a href="${view.path}/verifications">Verifications</a></p>
<div class="heading"><h1>${vendor?.legalName ?? "Verification"}</h1> ${state(statusName(verification.overallResult))}
<p><a class="button quiet" href="${view.path}/verifications/${verification.id}/certificate">Certificate</a></p></div>
${!vendors && html`<p class="notice warning">The vendor’s data is temporarily unavailable. The results below are complete.</p>`}
<section class="card" aria-labelledby="about">
<h2 id="about" class="unseen">About this verification</h2>
${facts([
  ["Verification ID", copyableId(verification.id)],
  [
    "Vendor",
    html`<a href="${view.path}/vendors/${verification.entityId}"><code>${verification.entityId}</code></a> <a href="${view.path}/verifications?entity_id=${verification.entityId}">View all verifications of this vendor</a>`,
  ],
  ["Identifiers", vendor && identifierList(vendor)],
  ["Time", time(verification.createdAt, "second")],
  ["Requested by", requester(view, actor)],
  ["Mode", modeText(verification.mode)],
])}
</section>
<section aria-labelledby="results">
<h2 id="results">Results</h2>
<ul class="cards">${verification.results.map((result) => resultItem(result, verification, view))}</ul>
</section>`;
}

function requester(view: EnvironmentView, { kind, name, id }: ActorView): Html | undefined {
  if (kind === "unknown") return id === "" ? undefined : html`<code>${id}</code>`;
  if (kind === "a monitor") return html`${kind} <a href="${view.path}/monitors/${id}"><code>${id}</code></a>`;
  return html`${kind}${name && html`, <strong>${name}</strong>`} <code>${id}</code>`;
}

function modeText(mode: Mode): string | undefined {
  if (mode === Mode.REALTIME) return "realtime: providers were called";
  return mode === Mode.CACHED ? "cached: the newest stored answer was used, if there was one" : undefined;
}

function resultItem(result: Result, { createdAt }: Verification, view: EnvironmentView): Html {
  const check = checkOf(result.checkType);
  const at = timestampDate(createdAt!);
  const isError = result.status === CheckStatus.ERROR;
  const meaning = reasonMeaning(result.reason);
  return html`<li class="card">
<div class="heading"><h3><code>${checkName(result.checkType)}</code></h3> ${state(statusName(result.status))}</div>
${check && html`<p class="hint">${checkDefinitions[check].question}</p>`}
<p><strong>${verdictOf(check, { result, at }, at).text}</strong></p>
${facts([
  ["Reason", result.reason && html`${meaning && html`${meaning} `}<code>${result.reason}</code>`],
  [
    "Origin",
    result.origin === "none"
      ? "no provider answered"
      : html`${providerName(result.origin)} <code>${result.origin}</code>`,
  ],
  ["Confidence", !isError && String(result.confidence)],
  ["Data", !isError && freshness(Number(result.dataFreshnessSeconds))],
])}
${
  result.evidenceId &&
  html`<p><a href="${view.path}/evidence/${result.evidenceId}">View evidence<span class="unseen"> of ${check}</span></a> <span class="hint">the provider’s answer and all attempts</span></p>`
}
</li>
`;
}

function freshness(seconds: number): Html {
  return html`${age(seconds)}${seconds >= 60 && html` <span class="hint">(${seconds.toLocaleString("en-US")} s)</span>`}`;
}
