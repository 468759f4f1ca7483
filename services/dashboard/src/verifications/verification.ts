import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkDefinitions, checkOf } from "@vvs/checks";
import { Mode, type Result, type Verification } from "@vvs/proto/verification/v1/verification";
import { longDay, registryDay, utcDay } from "@vvs/registration";
import type { EnvironmentView } from "../http/environments.ts";
import { pathId } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandler } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { readKeys } from "../page/panels.ts";
import { type ActorView, actorView, actorWords } from "../ui/actor.ts";
import { asCurl } from "../ui/curl.ts";
import { ageText, card, checkTitle, copyableId, facts, outcomeState, section, time, timeAgo } from "../ui/parts.ts";
import { providerName } from "../ui/vocabulary.ts";
import { sameNameTexts } from "../verdicts/same-name-rows.ts";
import { dataDate, verdictOf } from "../verdicts/verdict.ts";
import { askedAbout, askedFacts, askedWarning, readVendorThen } from "./asked-about.ts";
import { sameNameList } from "./same-name-list.ts";

/** Creates the handler of the page of one verification. */
export function createVerificationHandler(context: PageContext): PageHandler {
  const { verification, readVendors, layout, apiBaseUrl } = context;
  return async (request, response, visit) => {
    const { view, session, now, caller } = visit;
    const verificationId = pathId(request, "verification_id", "ver");
    const found = (await verification.getVerification({ caller, verificationId })).verification!;
    const [vendors, then, keys] = await Promise.all([
      readVendors(visit, [found]),
      readVendorThen(context, visit, found),
      readKeys(context, visit),
    ]);
    const vendor = vendors?.get(found.entityId);
    const asked = askedAbout(found);
    const beside = html`${outcomeState(found.overallResult)}
<p><a class="button quiet" href="${view.path}/verifications/${found.id}/certificate">Certificate</a></p>`;
    const content = html`${!vendors && html`<p class="notice warning">The vendor’s data is temporarily unavailable. The results below are complete.</p>`}
${section("results", "Results")`${askedWarning(asked, then?.legalName ?? "")}
<ul class="cards">${found.results.map((result) => resultItem(result, found, view))}</ul>`}
${card("about", "About this verification")`${facts([
  ["Verification ID", copyableId(found.id)],
  [
    "Vendor",
    html`<a href="${view.path}/vendors/${found.entityId}">${vendor?.legalName ?? found.entityId}</a> · <a href="${view.path}/verifications?entity_id=${found.entityId}">View all verifications of this vendor</a>`,
  ],
  ["Vendor ID", copyableId(found.entityId)],
  ...askedFacts(asked),
  ["Time", html`${time(found.createdAt, "second")} <span class="hint">${timeAgo(found.createdAt, now)}</span>`],
  ["Requested by", requester(view, actorView(found.actor, { session, keys }))],
  ["Answers from", modeText(found.mode)],
])}`}
${asCurl(apiBaseUrl, "getVerification", "Read this verification", { path: `/v1/verifications/${found.id}` })}`;
    const parents = [["/verifications", "Verifications"]] as const;
    layout.sendPage(response, { visit, title: "Verification", heading: vendor?.legalName, parents, beside, content });
  };
}

function requester(view: EnvironmentView, actor: ActorView): Html | undefined {
  const { kind, id } = actor;
  if (id === "") return undefined;
  const who = kind === "a monitor" ? html`<a href="${view.path}/monitors/${id}">${kind}</a>` : actorWords(actor);
  return html`${who} ${copyableId(id)}`;
}

function modeText(mode: Mode): string | undefined {
  if (mode === Mode.REALTIME) return "providers, called at this time";
  return mode === Mode.CACHED ? "the newest stored answer, if there was one" : undefined;
}

function resultItem(result: Result, { createdAt }: Verification, view: EnvironmentView): Html {
  const check = checkOf(result.checkType);
  const at = timestampDate(createdAt!);
  const date = dataDate({ result, at });
  const sameNames = sameNameTexts(result, registryDay(at));
  return html`<li class="card">
<div class="heading"><h3>${checkTitle(result.checkType)}</h3> ${outcomeState(result.status)}</div>
${check && html`<p class="hint">${checkDefinitions[check].question}</p>`}
<p><strong>${verdictOf(check, { result, at }, at).text}</strong></p>
${facts([
  ["Reason code", result.reason && html`<code>${result.reason}</code>`],
  ["Source", result.origin === "none" ? "no provider answered" : providerName(result.origin)],
  ["Exclusions of the same name", sameNames.length > 0 && sameNameList(sameNames)],
  [
    "Data as of",
    date && html`${longDay(utcDay(date))} <span class="hint">${ageText(Number(result.dataFreshnessSeconds))}</span>`,
  ],
])}
${
  result.evidenceId &&
  html`<p><a href="${view.path}/evidence/${result.evidenceId}">View evidence<span class="unseen"> of ${checkTitle(result.checkType)}</span></a> <span class="hint">the provider’s answer and all attempts</span></p>`
}
</li>
`;
}
