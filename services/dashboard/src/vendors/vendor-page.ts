import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { toCheckType } from "@vvs/checks";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { Address, Entity } from "@vvs/proto/entity/v1/entity";
import { longDay } from "@vvs/registration";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { ago, card, checkTitle, copyableId, dayTime, facts, state, timeAgo } from "../ui/parts.ts";
import { providerName } from "../ui/vocabulary.ts";
import { decisionLabels } from "../verdicts/certified-decision.ts";
import { confirmedText, staleText } from "../verdicts/confirmed-words.ts";
import { paymentAnswer, type Subject, type VerdictToday, verdictsToday } from "../verdicts/payment.ts";
import { isInRegistry, statusLabels } from "../verdicts/vendor-status.ts";
import { dataDate, dataDay, verdictOf } from "../verdicts/verdict.ts";
import { sameNameList } from "../verifications/same-name-list.ts";
import type { MadeCheck, MadeResult } from "./made-checks.ts";
import type { Timeline } from "./timeline.ts";
import { timelineSection } from "./timeline-page.ts";
import { type VendorFormView, vendorForm } from "./vendor-form.ts";
import { identifierList } from "./vendor-identifiers.ts";

interface VendorView {
  readonly visit: Visit;
  readonly entity: Entity;
  /** Undefined while unavailable. */
  readonly made: readonly MadeCheck[] | undefined;
  readonly subject: Subject;
  /** Since when its monitors' scheduled checks confirm nothing; undefined where they do, or there are none. */
  readonly staleSince: Timestamp | undefined;
  readonly form: VendorFormView;
  readonly timeline: Timeline;
  /** To name who changed the vendor. */
  readonly keys: readonly ApiKey[];
}

/** The page of one vendor: whether it can be paid, how to verify and monitor it, what is known, and what happened. */
export function vendorPage(options: VendorView): Html {
  const { visit, form, timeline, keys } = options;
  return html`${verdictSection(options)}
${vendorForm(form)}
${card("about", "About this vendor")`${about(options)}`}
${timelineSection({ visit, path: form.path, timeline, keys })}`;
}

function verdictSection({ visit, entity, made, subject, staleSince }: VendorView): Html {
  const { now } = visit;
  if (!made) {
    return card("verdict", "Can you pay this vendor?")`
<p class="notice warning">Verifications are temporarily unavailable. None are lost. Try again in a moment.</p>`;
  }
  const verdicts = verdictsToday(made, subject, now);
  const answer = paymentAnswer(verdicts, subject);
  const items = verdicts.map((verdict) => verdictItem(verdict, made.find(({ check }) => check === verdict.check)!));
  return html`<section class="card verdict ${answer.state}" aria-labelledby="verdict">
<div class="heading"><h2 id="verdict">Can you pay this vendor?</h2> ${answer.state !== "unchecked" && state(answer.state, decisionLabels[answer.decision])}</div>
<p class="answer">${answer.text}</p>
<ul class="plain">${items}</ul>
</section>`;

  function verdictItem(
    { check, state: name, text, sameNames }: VerdictToday,
    { newest, answered, ofAnotherTin }: MadeCheck,
  ): Html {
    const title = checkTitle(toCheckType(check));
    const before = newest !== answered && answered;
    return html`<li>
<div class="heading"><h3>${title}</h3> ${state(name, statusLabels[name])}</div>
${(newest || subject.tin) && html`<p>${text}${newest && asOf(newest, now)}</p>`}
${sameNames && sameNameList(sameNames)}
${check === "sam_registration" && staleSince && html`<p class="notice warning">${staleText(staleSince, now)}</p>`}
${newest ? links(newest, title, visit) : check === "sam_registration" && registryHint(entity)}
${before && html`<p class="hint unprinted"><a href="${visit.view.path}/verifications/${before.verification.id}">View the last answer<span class="unseen"> of ${title}</span></a></p>`}
${ofAnotherTin && html`<p class="hint">A newer ${title} was of another TIN: ${verdictOf(check, ofAnotherTin, ofAnotherTin.at).text} <a class="unprinted" href="${visit.view.path}/verifications/${ofAnotherTin.verification.id}">View that verification</a></p>`}
</li>
`;
  }
}

function asOf(made: MadeResult, now: Date): string {
  if (made.confirmedBy) return ` ${confirmedText(made.confirmedBy, now)}`;
  const date = dataDate({ result: made.result, at: timestampDate(made.verification.createdAt!) });
  return date ? ` As of ${dataDay(date, now)}.` : "";
}

function links({ result, verification, at, confirmedBy }: MadeResult, title: string, { view, now }: Visit): Html {
  const of = html`<span class="unseen"> of ${title}</span>`;
  return html`<p class="actions">${!confirmedBy && html`<span class="hint">Checked ${ago(at, now)}</span>`}
${result.evidenceId && html`<a href="${view.path}/evidence/${result.evidenceId}">Evidence${of}</a>`}
<a href="${view.path}/verifications/${verification.id}">Verification${of}</a>
<a href="${view.path}/verifications/${verification.id}/certificate">Certificate${of}</a></p>`;
}

/** What the registry says of a vendor that this organization never checked. */
function registryHint(entity: Entity): Html | undefined {
  const { samGov } = entity;
  if (!samGov || !isInRegistry(entity)) return undefined;
  const until = samGov.expirationDate && ` until ${longDay(samGov.expirationDate)}`;
  return html`<p class="hint">The registry lists this vendor as ${samGov.registrationStatus}${until}. Verify it to get an answer that you can prove.</p>`;
}

function about({ visit: { may, now }, entity, made, form }: VendorView): Html {
  const { samGov, addresses, sources, externalId, identifiers } = entity;
  // A provider's answer is often newer than the registry's file.
  const answer = made?.find(({ check }) => check === "sam_registration")?.answered?.result.details;
  const status = isInRegistry(entity) ? samGov?.registrationStatus : "";
  const cage = answer?.cage || samGov?.cage;
  return facts([
    [
      "Your vendor number",
      html`${externalId ? copyableId(externalId) : "none"}${may("verify") && html` <a class="unprinted" href="${form.path}/vendor-number">${externalId ? "Change" : "Add"}<span class="unseen"> your vendor number</span></a>`}`,
    ],
    ["Identifiers", identifierList(entity)],
    ["Registered name", answer?.legalName],
    [
      "Registration",
      registration(answer?.registrationStatus || status, answer?.expirationDate || samGov?.expirationDate),
    ],
    ["CAGE code in SAM.gov", cage !== identifiers.cage && cage],
    ["Legal form", answer?.entityType || samGov?.entityType],
    ...addresses.map((address) => [`${capitalized(address.type)} address`, addressText(address)] as const),
    [
      "Sources",
      html`<ul class="plain">${sources.map(({ name, version, retrievedAt }) => html`<li>${name === "organization" ? "Your organization" : providerName(name)} <code>${version}</code> <span class="hint">read ${timeAgo(retrievedAt, now)}</span></li>`)}</ul>`,
    ],
    ["Vendor ID", copyableId(entity.id)],
  ]);
}

function registration(status: string | undefined, ends: string | undefined): Html | undefined {
  if (!status) return undefined;
  return html`${status} in SAM.gov${ends && html`, registered until ${dayTime(ends)}`}`;
}

function addressText({ line1, line2, city, state: region, zip, country }: Address): string {
  return [line1, line2, city, [region, zip].filter(Boolean).join(" "), country].filter(Boolean).join(", ");
}

function capitalized(text: string): string {
  return text === "" ? "" : `${text[0]!.toUpperCase()}${text.slice(1)}`;
}
