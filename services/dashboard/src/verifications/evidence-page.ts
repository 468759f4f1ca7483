import type { Attempt, Evidence } from "@vvs/proto/verification/v1/verification";
import { type Html, html } from "../http/html.ts";
import { checkTitle, outcomeName } from "../ui/checks.ts";
import { asCurl } from "../ui/curl.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { indentJson } from "../ui/indent-json.ts";
import { copyable, copyableId, facts, state, time } from "../ui/parts.ts";
import { providerName, reasonMeaning } from "../ui/vocabulary.ts";
import { sourceList } from "./evidence-sources.ts";

/** Maximum number of characters shown on the page; the download has all of them. */
const SHOWN_CHARACTERS = 100_000;

export function evidencePage(options: {
  view: EnvironmentView;
  evidence: Evidence;
  /** Whether the hash matches the content. */
  isIntact: boolean;
  /** The API as its clients see it. */
  apiBaseUrl: URL;
}): Html {
  const { view, evidence, isIntact } = options;
  const verification = `${view.path}/verifications/${evidence.verificationId}`;
  return html`<p class="path"><a href="${view.path}/verifications">Verifications</a> › <a href="${verification}">Verification</a></p>
<h1>Evidence of ${checkTitle(evidence.checkType)}</h1>
${
  !isIntact &&
  html`<p class="notice problem" role="alert"><strong>The content was altered: its SHA-256 differs from the stored one.</strong> Do not rely on it. Contact support and include the evidence ID.</p>`
}
<section class="card" aria-labelledby="about">
<h2 id="about" class="unseen">About this evidence</h2>
${facts([
  ["Evidence ID", copyableId(evidence.id)],
  ["Source", sourceList(evidence) || "no provider answered"],
  ["Stored", time(evidence.createdAt, "second")],
  ["Verification ID", html`<a href="${verification}"><code>${evidence.verificationId}</code></a>`],
])}
</section>
${attemptsSection(evidence.attempts)}
${evidence.content === "" ? noContent() : contentSection(view, evidence, isIntact)}
${asCurl(
  { path: `/v1/evidence/${evidence.id}` },
  { baseUrl: options.apiBaseUrl, operation: "getEvidence", id: "evidence-curl", label: "Read this evidence" },
)}`;
}

function attemptsSection(attempts: readonly Attempt[]): Html {
  return html`<section aria-labelledby="attempts">
<h2 id="attempts">${attempts.length === 1 ? "1 attempt" : `${attempts.length} attempts`}</h2>
${
  attempts.length === 0
    ? html`<p class="empty">No provider was called.</p>`
    : html`<table>
<thead><tr><th scope="col">Provider</th><th scope="col">Outcome</th><th scope="col">Reason</th><th scope="col">Time</th><th scope="col" class="number">Duration</th></tr></thead>
<tbody>${attempts.map(attemptRow)}</tbody>
</table>`
}
</section>`;
}

function attemptRow({ provider, outcome, reason, startedAt, durationMs }: Attempt): Html {
  const meaning = reasonMeaning(reason);
  return html`<tr>
<th scope="row">${providerName(provider)} <code class="hint">${provider}</code></th>
<td data-label="Outcome">${state(outcome, outcomeName(outcome === "throw" ? "error" : outcome))}</td>
<td data-label="Reason">${reason && html`${meaning && html`${meaning} `}<code class="hint">${reason}</code>`}</td>
<td data-label="Time">${time(startedAt, "second")}</td>
<td data-label="Duration" class="number">${Number(durationMs)} ms</td>
</tr>
`;
}

function noContent(): Html {
  return html`<section aria-labelledby="content">
<h2 id="content">Content</h2>
<p class="empty">No provider answered, so there is no content. See the attempts above.</p>
</section>`;
}

function contentSection(view: EnvironmentView, evidence: Evidence, isIntact: boolean): Html {
  const isJson = /\bjson\b/i.test(evidence.contentType);
  const indented = isJson ? indentJson(evidence.content) : undefined;
  return html`<section class="card" aria-labelledby="content">
<h2 id="content">Content</h2>
<p>The provider’s answer as received. Secrets and TINs in it are masked.</p>
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
<p class="hint">To check the download, run <code>sha256sum ${evidence.id}.txt</code>. It prints the same hash.</p>
</section>`;
}

function shown(id: string, label: string, text: string): Html {
  if (text.length <= SHOWN_CHARACTERS) return copyable(id, label, text);
  return html`${copyable(id, label, text.slice(0, SHOWN_CHARACTERS).toWellFormed())}
<p class="hint">These are the first ${SHOWN_CHARACTERS.toLocaleString("en-US")} of ${text.length.toLocaleString("en-US")} characters. The download has all of them.</p>`;
}
