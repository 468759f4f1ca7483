import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkDefinitions, checkOf } from "@vvs/checks";
import { Mode, type Result, type Verification } from "@vvs/proto/verification/v1/verification";
import { longDay, utcDay } from "@vvs/registration";
import type { EnvironmentView } from "../http/environments.ts";
import { pathId } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import type { Vendors } from "../page/panels.ts";
import { readKeys, unavailablePage, unlessUnavailable } from "../page/panels.ts";
import { type ActorView, actorView } from "../ui/actor.ts";
import { asCurl } from "../ui/curl.ts";
import { checkTitle, copyableId, facts, outcomeState, time, timeAgo } from "../ui/parts.ts";
import { age, providerName } from "../ui/vocabulary.ts";
import { readSameNames } from "../verdicts/same-names.ts";
import { dataDate, verdictOf } from "../verdicts/verdict.ts";
import {
  type AskedAbout,
  askedAbout,
  askedFacts,
  askedWarning,
  namesToCompare,
  readVendorThen,
} from "./asked-about.ts";

/** Creates the handler of the page of one verification. */
export function createVerificationHandler(context: PageContext): PageHandler {
  const { verification, readVendors, layout, logger, apiBaseUrl } = context;
  return async (request, response, visit) => {
    const page = { visit, section: "verifications", title: "Verification" } as const;
    const { caller } = visit;
    const verificationId = pathId(request, "verification_id", "ver");
    const found = await unlessUnavailable(logger, visit, () =>
      verification.getVerification({ caller, verificationId }),
    );
    if (!found) return layout.sendPage(response, unavailablePage(page));
    const [vendors, then, keys] = await Promise.all([
      readVendors(visit, [found.verification!]),
      readVendorThen(context, visit, found.verification!),
      readKeys(context, visit),
    ]);
    const asked = askedAbout(found.verification!);
    const isSame = await readSameNames(context, visit, namesToCompare(asked, then?.legalName));
    const content = verificationPage({
      visit,
      verification: found.verification!,
      vendors,
      asked,
      warning: askedWarning(asked, then?.legalName ?? "", isSame),
      apiBaseUrl,
      actor: actorView(found.verification!.actor, { session: visit.session, keys }),
    });
    layout.sendPage(response, { ...page, content });
  };
}

function verificationPage(options: {
  visit: Visit;
  verification: Verification;
  /** Undefined while unavailable. */
  vendors: Vendors | undefined;
  asked: AskedAbout;
  /** Shown where the results do not prove what a reader may think. */
  warning: Html | undefined;
  actor: ActorView;
  /** The API as its clients see it. */
  apiBaseUrl: URL;
}): Html {
  const { visit, verification, vendors, actor } = options;
  const { view, now } = visit;
  const vendor = vendors?.get(verification.entityId);
  return html`<p class="path"><a href="${view.path}/verifications">Verifications</a></p>
<div class="heading"><h1>${vendor?.legalName ?? "Verification"}</h1> ${outcomeState(verification.overallResult)}
<p><a class="button quiet" href="${view.path}/verifications/${verification.id}/certificate">Certificate</a></p></div>
${!vendors && html`<p class="notice warning">The vendor’s data is temporarily unavailable. The results below are complete.</p>`}
<section aria-labelledby="results">
<h2 id="results">Results</h2>
${options.warning}
<ul class="cards">${verification.results.map((result) => resultItem(result, verification, view))}</ul>
</section>
<section class="card" aria-labelledby="about">
<h2 id="about">About this verification</h2>
${facts([
  ["Verification ID", copyableId(verification.id)],
  [
    "Vendor",
    html`<a href="${view.path}/vendors/${verification.entityId}">${vendor?.legalName ?? verification.entityId}</a> · <a href="${view.path}/verifications?entity_id=${verification.entityId}">View all verifications of this vendor</a>`,
  ],
  ["Vendor ID", copyableId(verification.entityId)],
  ...askedFacts(options.asked),
  [
    "Time",
    html`${time(verification.createdAt, "second")} <span class="hint">${timeAgo(verification.createdAt, now)}</span>`,
  ],
  ["Requested by", requester(view, actor)],
  ["Answers from", modeText(verification.mode)],
])}
</section>
${asCurl(
  { path: `/v1/verifications/${verification.id}` },
  {
    baseUrl: options.apiBaseUrl,
    operation: "getVerification",
    id: "verification-curl",
    label: "Read this verification",
  },
)}`;
}

function requester(view: EnvironmentView, { kind, name, id }: ActorView): Html | undefined {
  if (kind === "unknown") return id === "" ? undefined : copyableId(id);
  if (kind === "a monitor") return html`<a href="${view.path}/monitors/${id}">${kind}</a> ${copyableId(id)}`;
  return html`${kind}${name && html`, <strong>${name}</strong>`} ${copyableId(id)}`;
}

function modeText(mode: Mode): string | undefined {
  if (mode === Mode.REALTIME) return "providers, called at this time";
  return mode === Mode.CACHED ? "the newest stored answer, if there was one" : undefined;
}

function resultItem(result: Result, { createdAt }: Verification, view: EnvironmentView): Html {
  const check = checkOf(result.checkType);
  const at = timestampDate(createdAt!);
  const date = dataDate({ result, at });
  return html`<li class="card">
<div class="heading"><h3>${checkTitle(result.checkType)}</h3> ${outcomeState(result.status)}</div>
${check && html`<p class="hint">${checkDefinitions[check].question}</p>`}
<p><strong>${verdictOf(check, { result, at }, at).text}</strong></p>
${facts([
  ["Reason code", result.reason && html`<code>${result.reason}</code>`],
  ["Source", result.origin === "none" ? "no provider answered" : providerName(result.origin)],
  [
    "Data as of",
    date && html`${longDay(utcDay(date))} <span class="hint">${age(Number(result.dataFreshnessSeconds))}</span>`,
  ],
])}
${
  result.evidenceId &&
  html`<p><a href="${view.path}/evidence/${result.evidenceId}">View evidence<span class="unseen"> of ${checkTitle(result.checkType)}</span></a> <span class="hint">the provider’s answer and all attempts</span></p>`
}
</li>
`;
}
