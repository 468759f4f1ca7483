import type { ListSnapshotsResponse, Snapshot } from "@vvs/proto/entity/v1/entity";
import { type Html, html } from "../http/html.ts";
import { actorView } from "../ui/actor.ts";
import { changeTable } from "../ui/change-table.ts";
import { pager } from "../ui/listing.ts";
import { state } from "../ui/parts.ts";
import { identifierLabels } from "../verifications/verification-form.ts";
import type { Change, HistoryEntry } from "./snapshot-history.ts";

/** A page of an entity's versions, newest first. */
export interface History {
  readonly entries: readonly HistoryEntry[];
  readonly next: ListSnapshotsResponse["next"];
  readonly isFirst: boolean;
}

const fieldNames: Readonly<Record<string, string>> = {
  legal_name: "Legal name",
  "sam_gov.registration_status": "Registration",
  "sam_gov.expiration_date": "Registered until",
  "sam_gov.entity_type": "Entity type",
  "sam_gov.cage": "CAGE code in SAM.gov",
  sources: "Sources",
  "physical address": "Physical address",
  "mailing address": "Mailing address",
  ...Object.fromEntries(Object.entries(identifierLabels).map(([type, label]) => [`identifiers.${type}`, label])),
};

interface HistoryView {
  /** The path of the entity's page. */
  readonly path: string;
  /** Undefined while unavailable. */
  readonly history: History | undefined;
  /** The actors whose names the user may see. */
  readonly known: Parameters<typeof actorView>[1];
}

export function historySection({ path, history, known }: HistoryView): Html {
  return html`<section aria-labelledby="history">
<h2 id="history">History</h2>
${
  history
    ? html`${chainNotice(history)}
<ol class="cards" reversed>${history.entries.map((entry) => version(entry, known))}</ol>
${pager({ path, isFirst: history.isFirst, next: history.next, label: "Versions" })}`
    : html`<p class="notice warning">The history is temporarily unavailable. No data is lost. Try again in a moment.</p>`
}
</section>`;
}

function chainNotice({ entries }: History): Html {
  const broken = entries.filter(({ fault }) => fault !== undefined).length;
  return broken > 0
    ? html`<p class="notice problem" role="alert">The chain of versions is broken. Do not rely on ${broken === 1 ? "1 version" : `${broken} versions`} shown here. Contact the operator of this service.</p>`
    : html`<p class="hint">Every version is kept and contains the hash of the previous version. All hashes shown here were just recomputed and are correct.</p>`;
}

function version({ snapshot, changes, fault }: HistoryEntry, known: HistoryView["known"]): Html {
  const { createdAt, hash, previousHash } = snapshot;
  return html`<li class="card version">
<div class="heading"><h3>Version ${snapshot.version}</h3> ${fault ? state("fail", "chain broken") : state("pass", "chain verified")}
<p class="hint"><time datetime="${createdAt}">${createdAt.slice(0, 10)} ${createdAt.slice(11, 19)} UTC</time></p></div>
${fault && html`<p class="field-problem">${fault}</p>`}
<p>${actor(snapshot, known)}</p>
${whatChanged(changes)}
<details><summary>Show hashes and the whole version<span class="unseen"> ${snapshot.version}</span></summary>
<p>SHA-256 <code>${hash}</code></p>
${previousHash && html`<p>SHA-256 of the previous version <code>${previousHash}</code></p>`}
<pre tabindex="0" aria-label="Version ${snapshot.version} as JSON"><code>${JSON.stringify(snapshot.entity, undefined, 2)}</code></pre>
</details>
</li>
`;
}

function actor({ actor: id, version }: Snapshot, known: HistoryView["known"]): Html {
  const did = version === 1 ? "Created" : "Changed";
  if (id.startsWith("registry:")) return html`${did} by the registry file <code>${id.slice("registry:".length)}</code>`;
  const { kind, name } = actorView(id, known);
  return html`${did} by ${kind === "unknown" ? "" : kind}${name && html`, <strong>${name}</strong>`} <code>${id}</code>`;
}

function whatChanged(changes: readonly Change[] | undefined): Html | undefined {
  if (changes === undefined) return undefined;
  if (changes.length === 0)
    return html`<p class="hint">None of the fields shown here changed. Only the time when its sources were read changed.</p>`;
  return changeTable(
    changes.map(({ field, before, after }) => ({
      field: html`${fieldNames[field] ?? field}`,
      previous: before || undefined,
      current: after || undefined,
    })),
  );
}
