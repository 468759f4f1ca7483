import type { IdentifierType } from "@vvs/identifiers";
import type { Candidate } from "@vvs/proto/common/v1/common";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import { type Html, html } from "../http/html.ts";
import { asCurl } from "../ui/curl.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { choiceGroup, inputField } from "../ui/fields.ts";
import { state } from "../ui/parts.ts";
import type { readVendorStatuses } from "../vendor-list/vendor-status.ts";
import { identifierLabels } from "../verifications/verification-form.ts";
import { knownIdentifiers, registrationState } from "./identifiers.ts";
import { matchExplanation, percent } from "./match-explanation.ts";
import type { EchoedSearch, SearchProblems } from "./search-input.ts";
import type { Vendors } from "./vendors.ts";

/** The statuses of vendors in the organization's list, by entity; undefined while unavailable. */
type Statuses = Awaited<ReturnType<typeof readVendorStatuses>>;

/** The result of a search. */
export interface Findings {
  readonly matches: readonly Candidate[];
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  readonly statuses: Statuses;
  /** Why nothing was found. */
  readonly none?: string;
  /** Why several vendors were found instead of one. */
  readonly ambiguous?: string;
}

interface SearchView {
  readonly view: EnvironmentView;
  /** The API as its clients see it. */
  readonly apiBaseUrl: URL;
  readonly input: EchoedSearch;
  readonly problems?: SearchProblems;
  /** Undefined if nothing was searched for. */
  readonly findings: Findings | undefined;
  readonly isUnavailable: boolean;
  /** Whether a form without any input was sent. */
  readonly isEmpty: boolean;
  /** The newest vendors that the organization created; undefined if they are not shown or unavailable. */
  readonly own: { readonly entities: readonly Entity[]; readonly statuses: Statuses } | undefined;
}

const modes = [
  {
    value: "similar",
    label: "similar vendors",
    meaning: "allows other word orders, abbreviations and typing errors; best matches first",
  },
  {
    value: "exact",
    label: "exact matches",
    meaning: "every word of the name and the whole address must match; spelling variants are allowed",
  },
];

const UNAVAILABLE = "The search is temporarily unavailable. No data is lost. Try again in a moment.";

export function searchPage(options: SearchView): Html {
  const { view, findings, isUnavailable, isEmpty, own } = options;
  return html`<h1>Find a vendor</h1>
${isEmpty && html`<p class="notice problem" role="alert">Nothing was searched for, because the form is empty. Fill in at least one field.</p>`}
${searchForm(options)}
${isUnavailable && html`<p class="notice problem" role="alert">${UNAVAILABLE}</p>`}
${findings && results(options, findings)}
${own && ownSection(view, own)}`;
}

/** The body of the same look-up in the API, without the TIN. */
function lookUpBody({ legal_name, address, mode, ...typed }: EchoedSearch): object {
  const identifiers = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ""));
  const given = Object.keys(identifiers).length > 0 || legal_name !== "" || address !== "";
  return {
    ...(Object.keys(identifiers).length > 0 && { identifiers }),
    ...((legal_name || !given) && { legal_name: legal_name || "Acme Inc" }),
    ...(address && { address }),
    mode: mode || "fuzzy",
  };
}

function searchForm({ view, input, problems, apiBaseUrl }: SearchView): Html {
  const textField = (name: "legal_name" | "address", label: string, maxLength: number) =>
    inputField({
      name,
      label,
      attributes: html` class="wide" maxlength="${maxLength}" autocomplete="off"`,
      value: input[name],
      problem: problems?.[name],
    });
  const identifierField = (name: IdentifierType, value: string) =>
    inputField({
      name,
      label: identifierLabels[name],
      attributes: html` maxlength="40" autocomplete="off" autocapitalize="characters" spellcheck="false"`,
      value,
    });
  return html`<form method="post" action="${view.path}/vendors/search" class="card" role="search" aria-label="Vendors">
  ${textField("legal_name", "Name", 300)}
  ${textField("address", "Address, on one line", 500)}
  <div class="columns short">
  ${(["uei", "cage", "duns"] as const).map((type) => identifierField(type, input[type]))}
  ${identifierField("tin", "")}
  </div>
  ${choiceGroup({ type: "radio", name: "mode", legend: "Find", choices: modes, picked: [input.mode || "similar"] })}
  <p class="hint">One field is enough. More fields narrow down the result. A TIN is used only for this search and is not stored.</p>
  <button>Search</button>
</form>
${asCurl({ path: "/v1/entities/lookup", body: lookUpBody(input) }, { baseUrl: apiBaseUrl, operation: "lookupEntity", id: "look-up-curl", label: "Look up" })}`;
}

function results({ view, input }: SearchView, { matches, vendors, statuses, none, ambiguous }: Findings): Html {
  return html`<section aria-labelledby="found">
<h2 id="found">${matches.length === 1 ? "1 vendor" : `${matches.length} vendors`}</h2>
${ambiguous && html`<p class="notice warning" role="status">${ambiguous}</p>`}
${none && html`<p class="empty">${none}${input.mode && " Try a search for similar vendors."}</p>`}
<ul class="cards">${matches.map((match) => matchCard(view, match, vendors?.get(match.id), statuses))}</ul>
</section>`;
}

function matchCard(view: EnvironmentView, match: Candidate, entity: Entity | undefined, statuses: Statuses): Html {
  const { id, legalName, explanation = [] } = match;
  return html`<li class="card match">
<div class="heading"><h3><a href="${view.path}/vendors/${id}">${legalName}</a></h3> ${statusLabels(id, entity, statuses)}
${confidenceOf(match)}</div>
${entity && html`<p>${summary(entity)}</p>`}
${matchExplanation(explanation, legalName)}
</li>
`;
}

/** Renders what this organization's checks say about a vendor, and how a registry lists it. */
function statusLabels(id: string, entity: Entity | undefined, statuses: Statuses): Html {
  const { state: name, label } = statuses?.get(id) ?? { state: "unchecked", label: "not checked yet" };
  return html`${statuses && state(name, label)} ${entity && registrationState(entity)}`;
}

/** Renders how sure a match is. One by its name only is not called sure, as several vendors can have the same name. */
function confidenceOf({ confidence, explanation = [] }: Candidate): Html {
  const isNamed = explanation.some(({ criterion }) => criterion === "legal_name");
  const isBacked = explanation.some(({ criterion, weight }) => criterion !== "legal_name" && weight > 0);
  const isNameOnly = isNamed && !isBacked;
  // The bar is green where values are best at the end, and amber where they are best in the middle.
  const optimum = isNameOnly ? "0.7" : "1";
  return html`<p class="confidence"><meter min="0" max="1" low="0.6" high="0.8" optimum="${optimum}" value="${confidence}" aria-label="Confidence"></meter> <strong>${percent(confidence)}</strong> ${isNameOnly ? "name only" : "confidence"}</p>`;
}

/** Renders the identifiers and address that distinguish a vendor from others with the same name. */
function summary(entity: Entity): Html {
  const [address] = entity.addresses;
  const place = address && [address.line1, address.city, address.state, address.zip].filter(Boolean).join(", ");
  return html`${knownIdentifiers(entity).map(({ label, value }) => html`<span class="known">${label} <code>${value}</code></span> `)}${place && html`<span class="known">${place}</span>`}`;
}

function ownSection(view: EnvironmentView, { entities, statuses }: NonNullable<SearchView["own"]>): Html {
  return html`<section aria-labelledby="own">
<h2 id="own">Created by your organization</h2>
${
  entities.length === 0
    ? html`<p class="empty">None yet. To create one, call <code>POST /v1/entities</code> or verify a vendor that is not known yet.</p>`
    : html`<table>
<thead><tr><th scope="col">Name</th><th scope="col">Status</th><th scope="col">Identifiers and address</th></tr></thead>
<tbody>${entities.map((entity) => ownRow(view, entity, statuses))}</tbody>
</table>`
}
</section>`;
}

function ownRow(view: EnvironmentView, entity: Entity, statuses: Statuses): Html {
  return html`<tr>
<th scope="row"><a href="${view.path}/vendors/${entity.id}">${entity.legalName}</a></th>
<td data-label="Status">${statusLabels(entity.id, entity, statuses)}</td>
<td data-label="Identifiers and address">${summary(entity)}</td>
</tr>
`;
}
