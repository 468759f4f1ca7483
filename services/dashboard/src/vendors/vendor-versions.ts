import type { Snapshot } from "@vvs/proto/entity/v1/entity";
import { type Html, html } from "../http/html.ts";
import { actorView, actorWords } from "../ui/actor.ts";
import { state } from "../ui/parts.ts";
import { none, table } from "../ui/table.ts";
import { counted } from "../ui/vocabulary.ts";
import { identifierLabels } from "../verifications/verification-form.ts";
import type { Change, HistoryEntry } from "./snapshot-history.ts";

const fieldNames: Readonly<Record<string, string>> = {
  legal_name: "Legal name",
  "sam_gov.registration_status": "Registration",
  "sam_gov.expiration_date": "Registered until",
  "sam_gov.entity_type": "Legal form",
  "sam_gov.cage": "CAGE code in SAM.gov",
  sources: "Sources",
  "physical address": "Physical address",
  "mailing address": "Mailing address",
  ...Object.fromEntries(Object.entries(identifierLabels).map(([type, label]) => [`identifiers.${type}`, label])),
};

/** The actors whose names the user may see. */
type Known = Parameters<typeof actorView>[1];

/** Renders whether the chain of these versions is intact; undefined without a version. */
export function chainNotice(entries: readonly HistoryEntry[]): Html | undefined {
  if (entries.length === 0) return undefined;
  const broken = entries.filter(({ fault }) => fault !== undefined).length;
  return broken > 0
    ? html`<p class="notice problem" role="alert">The chain of versions is broken. Do not rely on ${counted(broken, "version")} shown here. Contact the operator of this service.</p>`
    : html`<p class="hint">Every version is kept and contains the hash of the previous version. All hashes shown here were just recomputed and are correct.</p>`;
}

/** Renders a version of a vendor: what changed, who changed it, and whether the chain is intact there. */
export function versionContent(
  { snapshot, changes, fault }: HistoryEntry,
  known: Known,
): { title: Html; content: Html } {
  const { version, hash, previousHash } = snapshot;
  return {
    title: html`<h3>Version ${version}</h3> ${fault ? state("fail", "chain broken") : state("pass", "chain verified")}`,
    content: html`${fault && html`<p class="field-problem">${fault}</p>`}
<p>${actor(snapshot, known)}</p>
${whatChanged(changes)}
<details><summary>Show hashes and the whole version<span class="unseen"> ${version}</span></summary>
<p>SHA-256 <code>${hash}</code></p>
${previousHash && html`<p>SHA-256 of the previous version <code>${previousHash}</code></p>`}
<pre tabindex="0" aria-label="Version ${version} as JSON"><code>${JSON.stringify(snapshot.entity, undefined, 2)}</code></pre>
</details>`,
  };
}

function actor({ actor: id, version }: Snapshot, known: Known): Html {
  const did = version === 1 ? "Created" : "Changed";
  if (id.startsWith("registry:")) return html`${did} by the registry file <code>${id.slice("registry:".length)}</code>`;
  return html`${did} by ${actorWords(actorView(id, known))} <code>${id}</code>`;
}

function whatChanged(changes: readonly Change[] | undefined): Html | undefined {
  if (changes === undefined) return undefined;
  if (changes.length === 0)
    return html`<p class="hint">None of the fields shown here changed. Only the time when its sources were read changed.</p>`;
  return table("changed", changes, [
    ["Field", ({ field }) => fieldNames[field] ?? field],
    ["Before", ({ before }) => (before ? html`<del>${before}</del>` : none())],
    ["After", ({ after }) => (after ? html`<ins>${after}</ins>` : none())],
  ]);
}
