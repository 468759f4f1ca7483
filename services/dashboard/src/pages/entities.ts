import type { Candidate } from "@vvs/errors";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { EchoedSearch, SearchProblems } from "../entity-search.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import type { Vendors } from "../vendors.ts";
import { identifierLabels } from "../verification-form.ts";
import { matchExplanation, percent } from "./match-explanation.ts";
import { state } from "./parts.ts";

/** What a search found. */
export interface Findings {
  readonly matches: readonly Candidate[];
  /** Undefined where they can't be had at the moment. */
  readonly vendors: Vendors | undefined;
  /** Why there are none. */
  readonly none?: string;
  /** Why there are several where one was wanted. */
  readonly ambiguous?: string;
}

export interface EntitiesView {
  readonly view: EnvironmentView;
  readonly input: EchoedSearch;
  readonly problems?: SearchProblems;
  /** Undefined where nothing was asked for. */
  readonly findings: Findings | undefined;
  readonly isAway: boolean;
  /** The newest that the organization created; undefined where they are not to be shown, or can't be. */
  readonly own: readonly Entity[] | undefined;
}

const AWAY = "Entities can’t be searched at the moment. Nothing is lost. Try again in a moment.";

export function entitiesPage(options: EntitiesView): Html {
  const { view, findings, isAway, own } = options;
  return html`<h1>Entities</h1>
${searchForm(options)}
${isAway && html`<p class="notice problem" role="alert">${AWAY}</p>`}
${findings && results(options, findings)}
${own && ownSection(view, own)}`;
}

function searchForm({ view, input, problems = {} }: EntitiesView): Html {
  return html`<form method="post" action="${view.path}/entities" class="card" role="search" aria-label="Entities">
  <div class="field">
  <label for="legal_name">Name</label>
  <input class="wide" id="legal_name" name="legal_name" maxlength="300" autocomplete="off" value="${input.legal_name}"${described("legal_name", problems.legal_name)}>
  ${problems.legal_name && html`<p class="field-problem" id="legal_name-problem">${problems.legal_name}</p>`}
  </div>
  <div class="field">
  <label for="address">Address, on one line</label>
  <input class="wide" id="address" name="address" maxlength="500" autocomplete="off" value="${input.address}"${described("address", problems.address)}>
  ${problems.address && html`<p class="field-problem" id="address-problem">${problems.address}</p>`}
  </div>
  <div class="columns short">
  ${(["uei", "cage", "duns"] as const).map((type) => identifierField(type, input[type]))}
  ${identifierField("tin", "")}
  </div>
  <fieldset>
    <legend>Find</legend>
    ${choice("similar", "what is alike", "whatever the word order, abbreviations and typing errors; best first", !input.exact)}
    ${choice("exact", "what is equal", "every word of the name and the whole address, but for their spelling", input.exact)}
  </fieldset>
  <p class="hint">One field is enough; more tell entities apart. A TIN is searched for, and kept nowhere.</p>
  <button>Search</button>
</form>`;
}

function identifierField(type: keyof typeof identifierLabels, value: string): Html {
  return html`<div class="field">
  <label for="${type}">${identifierLabels[type]}</label>
  <input id="${type}" name="${type}" maxlength="40" autocomplete="off" autocapitalize="characters" spellcheck="false" value="${value}">
  </div>`;
}

function described(name: string, problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html` aria-invalid="true" aria-describedby="${name}-problem"`;
}

function choice(value: string, label: string, hint: string, isPicked: boolean): Html {
  return html`<label class="check"><input type="radio" name="mode" value="${value}"${isPicked && html` checked`}> <span>${label} <span class="hint">${hint}</span></span></label>`;
}

function results({ view, input }: EntitiesView, { matches, vendors, none, ambiguous }: Findings): Html {
  return html`<section aria-labelledby="found">
<h2 id="found">${matches.length === 1 ? "1 entity" : `${matches.length} entities`}</h2>
${ambiguous && html`<p class="notice warning" role="status">${ambiguous}</p>`}
${none && html`<p class="empty">${none}${input.exact && " Search for what is alike, too."}</p>`}
<ul class="cards">${matches.map((match) => matchCard(view, match, vendors?.get(match.id)))}</ul>
</section>`;
}

function matchCard(view: EnvironmentView, match: Candidate, entity: Entity | undefined): Html {
  const { id, legalName, confidence, explanation = [] } = match;
  return html`<li class="card match">
<div class="heading"><h3><a href="${view.path}/entities/${id}">${legalName}</a></h3> ${entity?.samGov && state(entity.samGov.registrationStatus)}
<p class="confidence"><meter min="0" max="1" low="0.6" high="0.8" optimum="1" value="${confidence}" aria-label="Confidence"></meter> <strong>${percent(confidence)}</strong> sure</p></div>
${entity && html`<p>${summary(entity)}</p>`}
${matchExplanation(explanation, legalName)}
</li>
`;
}

/** What tells an entity from its namesakes. */
function summary({ identifiers, addresses: [address] }: Entity): Html {
  const known = Object.entries(identifierLabels).filter(([type]) => identifiers[type]);
  const place = address && [address.line1, address.city, address.state, address.zip].filter(Boolean).join(", ");
  return html`${known.map(([type, label]) => html`<span class="known">${label} <code>${identifiers[type]}</code></span> `)}${place && html`<span class="known">${place}</span>`}`;
}

function ownSection(view: EnvironmentView, own: readonly Entity[]): Html {
  return html`<section aria-labelledby="own">
<h2 id="own">Created by your organization</h2>
${
  own.length === 0
    ? html`<p class="empty">None yet. One is created by <code>POST /v1/entities</code>, or by verifying a vendor that is not known yet.</p>`
    : html`<table>
<thead><tr><th scope="col">Name</th><th scope="col">Registration</th><th scope="col">Known by</th></tr></thead>
<tbody>${own.map((entity) => ownRow(view, entity))}</tbody>
</table>`
}
</section>`;
}

function ownRow(view: EnvironmentView, entity: Entity): Html {
  return html`<tr>
<th scope="row"><a href="${view.path}/entities/${entity.id}">${entity.legalName}</a></th>
<td data-label="Registration">${entity.samGov && state(entity.samGov.registrationStatus)}</td>
<td data-label="Known by">${summary(entity)}</td>
</tr>
`;
}
