import { createHash } from "node:crypto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { outcomeName, reasonMeaning } from "@vvs/checks/words";
import type { Attempt, Evidence } from "@vvs/proto/verification/v1/verification";
import { exactTime, longDay, utcDay } from "@vvs/registration";
import type { Request } from "express";
import type { EnvironmentView } from "../http/environments.ts";
import { pathId } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { isRefusal } from "../http/refusal.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { asCurl } from "../ui/curl.ts";
import { indentJson } from "../ui/indent-json.ts";
import { card, checkTitle, copyable, copyableId, facts, section, state, time } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { counted, numberText, providerName } from "../ui/vocabulary.ts";

export function createEvidenceHandlers({ verification, layout, apiBaseUrl }: PageContext) {
  async function read(request: Request, { caller }: Visit): Promise<Evidence> {
    return (await verification.getEvidence({ caller, evidenceId: pathId(request, "evidence_id", "evd") })).evidence!;
  }

  return {
    async view(request, response, visit) {
      const evidence = await read(request, visit);
      const { view } = visit;
      const isWhole = isIntact(evidence);
      const verification = `/verifications/${evidence.verificationId}`;
      const content = html`${
        !isWhole &&
        html`<p class="notice problem" role="alert"><strong>The content was altered: its SHA-256 differs from the stored one.</strong> Do not rely on it. Contact support and include the evidence ID.</p>`
      }
${card("about", "About this evidence", "unseen")`${facts([
  ["Evidence ID", copyableId(evidence.id)],
  ["Source", sourceList(evidence) || "no provider answered"],
  ["Stored", time(evidence.createdAt, "second")],
  ["Verification ID", html`<a href="${view.path}${verification}"><code>${evidence.verificationId}</code></a>`],
])}`}
${attemptsSection(evidence.attempts)}
${evidence.content === "" ? noContent() : contentSection(view, evidence, isWhole)}
${asCurl(apiBaseUrl, "getEvidence", "Read this evidence", { path: `/v1/evidence/${evidence.id}` })}`;
      const title = `Evidence of ${checkTitle(evidence.checkType)}`;
      const parents = [
        ["/verifications", "Verifications"],
        [verification, "Verification"],
      ] as const;
      layout.sendPage(response, { visit, title, parents, content });
    },

    /** Sends exactly the bytes that were hashed, as a text attachment, so that no browser runs a provider's content. */
    async download(request, response, visit) {
      const { id, content } = await read(request, visit);
      response.set({
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": `attachment; filename="${id}.txt"`,
      });
      response.send(Buffer.from(content, "utf8"));
    },
  } satisfies PageHandlers;
}

/** Maximum number of characters shown on the page; the download has all of them. */
const SHOWN_CHARACTERS = 100_000;

function attemptsSection(attempts: readonly Attempt[]): Html {
  return section("attempts", counted(attempts.length, "attempt"))`${
    attempts.length === 0
      ? html`<p class="empty">No provider was called.</p>`
      : table("", attempts, [
          ["Provider", ({ provider }) => html`${providerName(provider)} <code class="hint">${provider}</code>`],
          ["Outcome", ({ outcome }) => state(outcome, outcomeName(outcome === "throw" ? "error" : outcome))],
          ["Reason", ({ reason }) => reason && html`${reasonMeaning(reason)} <code class="hint">${reason}</code>`],
          ["Time", ({ startedAt }) => time(startedAt, "second")],
          ["Duration", ({ durationMs }) => `${durationMs} ms`, "number"],
        ])
  }`;
}

function noContent(): Html {
  return section("content", "Content")`
<p class="empty">No provider answered, so there is no content. See the attempts above.</p>`;
}

function contentSection(view: EnvironmentView, evidence: Evidence, isIntact: boolean): Html {
  const isJson = /\bjson\b/i.test(evidence.contentType);
  const indented = isJson ? indentJson(evidence.content) : undefined;
  return card("content", "Content")`<p>The provider’s answer as received. Secrets and TINs in it are masked.</p>
${facts([
  ["Content type", html`<code>${evidence.contentType}</code>`],
  [
    "SHA-256",
    html`<code>${evidence.sha256}</code> ${isIntact ? state("pass", "unaltered") : state("fail", "altered")}`,
  ],
])}
${
  indented === undefined
    ? shown("as-received", "As received", evidence.content)
    : html`${shown("indented", "Indented for reading", indented)}
<details><summary>As received</summary>
${shown("as-received", "As received", evidence.content)}
</details>`
}
<p><a class="button quiet" href="${view.path}/evidence/${evidence.id}/content">Download as received</a></p>
<p class="hint">To check the download, run <code>sha256sum ${evidence.id}.txt</code>. It prints the same hash.</p>`;
}

function shown(id: string, label: string, text: string): Html {
  if (text.length <= SHOWN_CHARACTERS) return copyable(id, label, text);
  return html`${copyable(id, label, text.slice(0, SHOWN_CHARACTERS).toWellFormed())}
<p class="hint">These are the first ${numberText(SHOWN_CHARACTERS)} of ${numberText(text.length)} characters. The download has all of them.</p>`;
}

/**
 * The evidence of a result, with whether its content matches its hash. `deleted`: its time was over. `unreadable`: the
 * content is missing or altered in the store.
 */
export type CheckedEvidence =
  | { readonly kind: "found"; readonly evidence: Evidence; readonly isIntact: boolean }
  | { readonly kind: "deleted" }
  | { readonly kind: "unreadable" };

/** Returns whether the content of evidence still has the SHA-256 that was stored with it. */
function isIntact({ content, sha256 }: Pick<Evidence, "content" | "sha256">): boolean {
  return createHash("sha256").update(content, "utf8").digest("hex") === sha256;
}

/** Reads evidence and computes its hash again. Errors: those of the verification service, if it is unavailable. */
export async function checkEvidence(
  { verification, logger }: Pick<PageContext, "verification" | "logger">,
  { caller }: Visit,
  evidenceId: string,
): Promise<CheckedEvidence> {
  try {
    const evidence = (await verification.getEvidence({ caller, evidenceId })).evidence!;
    return { kind: "found", evidence, isIntact: isIntact(evidence) };
  } catch (error) {
    if (isRefusal(error, "evidence_not_found")) return { kind: "deleted" };
    if (!isRefusal(error, "internal_error")) throw error;
    logger.error({ err: error, request_id: caller.requestId }, "evidence could not be read");
    return { kind: "unreadable" };
  }
}

/**
 * Renders the sources of an answer, each with its file and date: for SAM.gov's those of the registration and of the exclusions,
 * and for others the provider itself; false where there are none.
 */
export function sourceList({
  origin,
  sources,
  createdAt,
}: Pick<Evidence, "origin" | "sources" | "createdAt">): Html | false {
  if (sources.length === 0) {
    const at = exactTime(timestampDate(createdAt!));
    return origin !== "none" && html`<ul class="plain"><li>${providerName(origin)}, answered ${at}</li></ul>`;
  }
  return html`<ul class="plain">${sources.map(({ part, origin: name, dataAsOf, file, sha256 }) => {
    const at = timestampDate(dataAsOf!);
    const date = name === "sam_gov_api" ? `answered ${exactTime(at)}` : `cut on ${longDay(utcDay(at))}`;
    return html`<li>${part === "registration" ? "Registration" : "Exclusions"}: ${providerName(name)}${file && html` <code>${file}</code>`}, ${date}${sha256 && html`, SHA-256 <code class="hash">${sha256}</code>`}</li>`;
  })}</ul>`;
}
