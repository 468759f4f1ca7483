import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf } from "@vvs/checks";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { TinReplacement } from "@vvs/proto/entity/v1/entity";
import type { Delivery } from "@vvs/proto/webhook/v1/webhook";
import { pathWithQuery } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { actorView, actorWords } from "../ui/actor.ts";
import { changeList } from "../ui/change-list.ts";
import { pager, writePosition } from "../ui/listing.ts";
import { ago, checkTitle, copyableId, outcomeState, section } from "../ui/parts.ts";
import { counted } from "../ui/vocabulary.ts";
import { noChangeText } from "../verdicts/confirmed-words.ts";
import { verdictOf } from "../verdicts/verdict.ts";
import { deliveryState } from "../webhooks/endpoints-page.ts";
import { type Kind, kinds, type Timeline, type TimelineItem } from "./timeline.ts";
import { chainNotice, versionContent } from "./vendor-versions.ts";

interface TimelineView {
  readonly visit: Visit;
  /** The path of the vendor's page. */
  readonly path: string;
  readonly timeline: Timeline;
  readonly keys: readonly ApiKey[];
}

const names: Readonly<Record<Kind, string>> = {
  verifications: "Verifications",
  changes: "Changes",
  deliveries: "Deliveries",
  versions: "Versions",
  tins: "Replaced TINs",
};

const isKind = (text: unknown): text is Kind => Object.hasOwn(kinds, String(text));

/** Returns the kind that a query parameter chooses; undefined for all. */
export function readKind(text: unknown): Kind | undefined {
  return isKind(text) ? text : undefined;
}

/** Renders what happened to a vendor, newest first, with links to show only one kind. */
export function timelineSection(options: TimelineView): Html {
  const { path, timeline } = options;
  const { items, only, unavailable, isFirst, next } = timeline;
  const filter = { show: only ?? "" };
  return section("history", "History")`<nav aria-label="Kinds of history"><ul class="kinds">
${kindLink(path, undefined, only)}
${(Object.keys(kinds) as Kind[]).map((kind) => kindLink(path, kind, only))}
</ul></nav>
${unavailable.map((kind) => html`<p class="notice warning">${names[kind]} are temporarily unavailable. None are lost. Try again in a moment.</p>`)}
${chainNotice(items.flatMap((item) => (item.kind === "versions" ? [item.entry] : [])))}
${
  items.length === 0
    ? unavailable.length === 0 &&
      html`<p class="empty">${isFirst ? "Nothing happened yet." : "There is nothing older."}</p>`
    : html`<ol class="timeline" reversed>${items.map((item) => timelineItem(item, options))}</ol>`
}
${pager({ path, filter, isFirst, next: next && writePosition(next), label: "History" })}`;
}

function kindLink(path: string, kind: Kind | undefined, shown: Kind | undefined): Html {
  const link = `${pathWithQuery(path, { show: kind ?? "" })}#history`;
  return html`<li><a href="${link}"${kind === shown && html` aria-current="true"`}>${kind ? names[kind] : "Everything"}</a></li>`;
}

function timelineItem(item: TimelineItem, options: TimelineView): Html {
  const { title, content } = contentOf(item, options);
  return html`<li class="card event${item.kind === "versions" && " version"}">
<div class="heading">${title}
<p class="hint">${ago(item.at, options.visit.now)}</p></div>
${content}
</li>
`;
}

function contentOf(item: TimelineItem, options: TimelineView): { title: Html; content: Html } {
  const { visit, keys } = options;
  const { view, session } = visit;
  if (item.kind === "verifications") return verified(item, options);
  if (item.kind === "deliveries") return delivered(item.delivery, visit);
  if (item.kind === "versions") return versionContent(item.entry, { session, keys });
  if (item.kind === "tins") return replaced(item.replacement, { session, keys });
  const { id, monitorId, verificationId, changes } = item.event;
  return {
    title: html`<h3>A monitor found a change</h3>`,
    content: html`${changeList(changes)}
<p class="actions"><a href="${view.path}/verifications/${verificationId}">View verification<span class="unseen"> of ${id}</span></a> <a href="${view.path}/monitors/${monitorId}">View monitor<span class="unseen"> of ${id}</span></a></p>
<p class="hint">Event ${copyableId(id)}</p>`,
  };
}

type VerifiedItem = Extract<TimelineItem, { kind: "verifications" }>;

function verified({ verification, confirmed }: VerifiedItem, { visit: { view, session, now }, keys }: TimelineView) {
  const { id, results, overallResult, actor } = verification;
  const at = timestampDate(verification.createdAt!);
  const by = actorWords(actorView(actor, { session, keys }));
  return {
    title: html`<h3><a href="${view.path}/verifications/${id}">Verified</a></h3> ${outcomeState(overallResult)}`,
    content: html`<ul class="plain">${results.map(
      (result) =>
        html`<li><strong>${checkTitle(result.checkType)}</strong>: ${verdictOf(checkOf(result.checkType), { result, at }, at).text}${
          result.evidenceId &&
          html` <a class="unprinted" href="${view.path}/evidence/${result.evidenceId}">Evidence<span class="unseen"> of ${checkTitle(result.checkType)}, ${id}</span></a>`
        }</li>`,
    )}</ul>
${confirmed && html`<p class="confirmed">Then ${counted(confirmed.times, "scheduled check")}. ${noChangeText(confirmed, now)}</p>`}
<p class="actions">${by && html`<span class="hint">by ${by}</span>`} <a href="${view.path}/verifications/${id}/certificate">Certificate<span class="unseen"> of ${id}</span></a></p>`,
  };
}

function replaced({ previous, current, matched, actor }: TinReplacement, known: Parameters<typeof actorView>[1]) {
  const by = actorWords(actorView(actor, known));
  return {
    title: html`<h3>The TIN was replaced</h3>`,
    content: html`<p><del><span class="unseen">from </span>${previous}</del> <span aria-hidden="true">→</span> <ins><span class="unseen">to </span>${current}</ins>, supplied${by && html` by ${by}`}</p>
<p class="hint">${matched ? "The new TIN matched." : "Neither of the two had matched."} Later TIN matches are about the new one.</p>`,
  };
}

function delivered(delivery: Delivery, { view }: Visit) {
  const { id, webhookUrl, attempts } = delivery;
  return {
    title: html`<h3><a href="${view.path}/webhooks/deliveries/${id}">Webhook</a></h3> ${deliveryState(delivery)}`,
    content: html`<p>To <code class="url">${webhookUrl}</code>, ${counted(attempts.length, "attempt")}</p>`,
  };
}
