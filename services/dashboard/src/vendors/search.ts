import { create } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import { type Candidate, CandidateSchema } from "@vvs/proto/common/v1/common";
import type { Entity, LookUpResponse } from "@vvs/proto/entity/v1/entity";
import type { Response } from "express";
import type { EnvironmentView } from "../http/environments.ts";
import { field, pathWithQuery, queryValue } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { messageText } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import type { Vendors } from "../page/panels.ts";
import { unlessUnavailable } from "../page/panels.ts";
import { asCurl } from "../ui/curl.ts";
import { choiceGroup, inputField } from "../ui/fields.ts";
import { section, state } from "../ui/parts.ts";
import { counted } from "../ui/vocabulary.ts";
import { readVendorStatuses } from "../verdicts/vendor-status.ts";
import { identifierField } from "../verifications/run-verification.ts";
import { withoutTin } from "../verifications/verification-form.ts";
import { matchExplanation, percent } from "./match-explanation.ts";
import type { CountSearch } from "./search-input.ts";
import { type EchoedSearch, readSearch, type SearchInput, type SearchProblems, searchInput } from "./search-input.ts";
import { knownIdentifiers, registrationState } from "./vendor-identifiers.ts";

type SearchRequest = NonNullable<ReturnType<typeof readSearch>["request"]>;

/** Creates the handlers of the search for vendors, among those of the registry and of the organization. */
export function createSearchHandlers(context: PageContext, countSearch: CountSearch) {
  const { entities, organization, readVendors, layout, logger, apiBaseUrl } = context;

  async function find(visit: Visit, search: SearchRequest): Promise<Findings> {
    const { limitPerMinute } = await organization.getOrganization({ caller: visit.caller });
    countSearch(visit.session.organizationId, limitPerMinute);
    const withVendors = async (matches: readonly Candidate[]) => {
      const ids = matches.map(({ id }) => id);
      const [vendors, statuses] = await Promise.all([
        readVendors(
          visit,
          ids.map((entityId) => ({ entityId })),
        ),
        readVendorStatuses(context, visit, ids),
      ]);
      return { matches, vendors, statuses };
    };
    try {
      return await withVendors(matchesOf(await entities.lookUp({ ...search, caller: visit.caller, explain: true })));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message, candidates = [] } = error;
      if (code === "entity_not_found") return { ...(await withVendors([])), none: messageText(message) };
      if (code !== "ambiguous_match") throw error;
      return { ...(await withVendors(candidates)), ambiguous: messageText(message) };
    }
  }

  async function show(response: Response, visit: Visit, typed: SearchInput, wasSent = false): Promise<void> {
    const { request, problems } = readSearch(typed);
    const isEmpty = wasSent && !request && !problems;
    const findings = request && (await unlessUnavailable(logger, visit, () => find(visit, request)));
    const isUnavailable = request !== undefined && findings === undefined;
    const input = withoutTin(typed);
    const content = html`${isEmpty && html`<p class="notice problem" role="alert">Nothing was searched for, because the form is empty. Fill in at least one field.</p>`}
${searchForm(visit.view, input, problems)}
${asCurl(apiBaseUrl, "lookupEntity", "Look up", { path: "/v1/entities/lookup", body: lookUpBody(input) })}
${isUnavailable && html`<p class="notice problem" role="alert">The search is temporarily unavailable. No data is lost. Try again in a moment.</p>`}
${findings && results(visit.view, input, findings)}`;
    const status = isUnavailable ? 503 : problems || isEmpty ? 400 : 200;
    layout.sendPage(response, { visit, title: "Find a vendor", status, content });
  }

  return {
    ask: (request, response, visit) =>
      show(response, visit, { ...searchInput((name) => queryValue(request, name)), tin: "" }),

    // A search without a TIN gets an address of its own, so that it can be bookmarked. A TIN never gets into an address.
    async submit(request, response, visit) {
      const typed = searchInput((name) => field(request, name));
      const echo = withoutTin(typed);
      const isWhole = (["uei", "cage", "duns"] as const).every((type) => echo[type] === typed[type]);
      if (typed.tin !== "" || !isWhole || !readSearch(typed).request) return show(response, visit, typed, true);
      const path = `${visit.view.path}/vendors/search`;
      // #found scrolls to the results below the form.
      response.redirect(303, `${pathWithQuery(path, echo)}#found`);
    },
  } satisfies PageHandlers;
}

function matchesOf({ entity, confidence, explanation, candidates }: LookUpResponse): readonly Candidate[] {
  if (!entity) return candidates;
  const { id, legalName } = entity;
  return [create(CandidateSchema, { id, legalName, confidence, explanation })];
}

/** The statuses of vendors in the organization's list, by entity; undefined while unavailable. */
type Statuses = Awaited<ReturnType<typeof readVendorStatuses>>;

/** The result of a search. */
interface Findings {
  readonly matches: readonly Candidate[];
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  readonly statuses: Statuses;
  /** Why nothing was found. */
  readonly none?: string;
  /** Why several vendors were found instead of one. */
  readonly ambiguous?: string;
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

function searchForm(view: EnvironmentView, input: EchoedSearch, problems: SearchProblems | undefined): Html {
  const textField = (name: "legal_name" | "address", label: string, maxLength: number) =>
    inputField({
      name,
      label,
      attributes: html` class="wide" maxlength="${maxLength}" autocomplete="off"`,
      value: input[name],
      problem: problems?.[name],
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
</form>`;
}

function results(
  view: EnvironmentView,
  input: EchoedSearch,
  { matches, vendors, statuses, none, ambiguous }: Findings,
): Html {
  return section("found", counted(matches.length, "vendor"))`
${ambiguous && html`<p class="notice warning" role="status">${ambiguous}</p>`}
${none && html`<p class="empty">${none}${input.mode && " Try a search for similar vendors."}</p>`}
<ul class="cards">${matches.map((match) => matchCard(view, match, vendors?.get(match.id), statuses))}</ul>`;
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
