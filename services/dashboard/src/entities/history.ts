import type { ListSnapshotsResponse, Snapshot } from "@vvs/proto/entity/v1/entity";
import { type Html, html } from "../http/html.ts";
import { actorView } from "../ui/actor.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { writePosition } from "../ui/list-position.ts";
import { state } from "../ui/parts.ts";
import { identifierLabels } from "../verifications/verification-form.ts";
import type { Change, HistoryEntry } from "./snapshot-history.ts";

/** A page of an entity's versions, newest first. */
export interface History {
  readonly entries: readonly HistoryEntry[];
  readonly next: ListSnapshotsResponse["next"];
  readonly isFirst: boolean;
}

/** The actors whose names the user may see. */
export type KnownActors = Parameters<typeof actorView>[1];

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

export function historySection(options: {
  view: EnvironmentView;
  entityId: string;
  /** Undefined while unavailable. */
  history: History | undefined;
  known: KnownActors;
}): Html {
  const { history } = options;
  return html`<section aria-labelledby="history">
<h2 id="history">History</h2>
${history ? versions(options, history) : html`<p class="notice warning">The history is temporarily unavailable. No data is lost. Try again in a moment.</p>`}
</section>`;
}

function versions({ view, entityId, known }: Parameters<typeof historySection>[0], history: History): Html {
  const { entries, next, isFirst } = history;
  const broken = entries.filter(({ fault }) => fault !== undefined).length;
  const path = `${view.path}/entities/${entityId}`;
  return html`${
    broken > 0
      ? html`<p class="notice problem" role="alert">The chain of versions is broken. Do not rely on ${broken === 1 ? "1 version" : `${broken} versions`} shown here. Contact the operator of this service.</p>`
      : html`<p class="hint">Every version is kept and contains the hash of the previous version. All hashes shown here were just recomputed and are correct.</p>`
  }
<ol class="cards" reversed>${entries.map((entry) => version(entry, known))}</ol>
<nav class="pager" aria-label="Versions">
${!isFirst && html`<a class="button quiet" href="${path}">Newest</a>`}
${next && html`<a class="button quiet" href="${path}?${new URLSearchParams({ after: writePosition(next) }).toString()}" rel="next">Older</a>`}
</nav>`;
}

function version({ snapshot, changes, fault }: HistoryEntry, known: KnownActors): Html {
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

function actor({ actor: id, version }: Snapshot, known: KnownActors): Html {
  const did = version === 1 ? "Created" : "Changed";
  if (id.startsWith("registry:")) return html`${did} by the registry file <code>${id.slice("registry:".length)}</code>`;
  const { kind, name } = actorView(id, known);
  return html`${did} by ${kind === "unknown" ? "" : kind}${name && html`, <strong>${name}</strong>`} <code>${id}</code>`;
}

function whatChanged(changes: readonly Change[] | undefined): Html | undefined {
  if (changes === undefined) return undefined;
  if (changes.length === 0)
    return html`<p class="hint">None of the fields shown here changed. Only the time when its sources were read changed.</p>`;
  return html`<table class="changed">
<thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${changes.map(
    ({
      field,
      before,
      after,
    }) => html`<tr><th scope="row">${fieldNames[field] ?? field}</th><td data-label="Before">${before ? html`<del>${before}</del>` : html`<span class="hint">none</span>`}</td><td data-label="After">${after ? html`<ins>${after}</ins>` : html`<span class="hint">none</span>`}</td></tr>
`,
  )}</tbody>
</table>`;
}
