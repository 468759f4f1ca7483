import { create } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import { type Candidate, CandidateSchema } from "@vvs/proto/common/v1/common";
import type { LookUpResponse } from "@vvs/proto/entity/v1/entity";
import type { Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { pathWithQuery } from "../http/paths.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { messageText } from "../ui/vocabulary.ts";
import { readVendorStatuses } from "../vendor-list/vendor-status.ts";
import { echoOfSearch, readSearch, type SearchInput, searchInput } from "./search-input.ts";
import { type Findings, searchPage } from "./search-page.ts";

const OWN_SHOWN = 10;

type SearchRequest = NonNullable<ReturnType<typeof readSearch>["request"]>;

/** Creates the handlers of the search for vendors, among those of the registry and of the organization. */
export function createSearchHandlers(context: PageContext) {
  const { entities, organization, countSearch, readVendors, layout, logger, apiBaseUrl } = context;

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
    const newest = { caller: visit.caller, page: { limit: OWN_SHOWN } };
    const listed =
      request || problems
        ? undefined
        : (await unlessUnavailable(logger, visit, () => entities.listEntities(newest)))?.entities;
    const ownIds = listed?.map(({ id }) => id) ?? [];
    const own = listed && { entities: listed, statuses: await readVendorStatuses(context, visit, ownIds) };
    const input = echoOfSearch(typed);
    const content = searchPage({
      view: visit.view,
      apiBaseUrl,
      input,
      problems,
      findings,
      isUnavailable,
      isEmpty,
      own,
    });
    const status = isUnavailable ? 503 : problems || isEmpty ? 400 : 200;
    layout.sendPage(response, { visit, section: "vendors", title: "Find a vendor", status, content });
  }

  return {
    ask: (request, response, visit) =>
      show(response, visit, { ...searchInput((name) => queryValue(request, name)), tin: "" }),

    // A search without a TIN gets an address of its own, so that it can be bookmarked. A TIN never gets into an address.
    async submit(request, response, visit) {
      const typed = searchInput((name) => field(request, name));
      const echo = echoOfSearch(typed);
      const isWhole = (["uei", "cage", "duns"] as const).every((type) => echo[type] === typed[type]);
      if (typed.tin !== "" || !isWhole || !readSearch(typed).request) return show(response, visit, typed, true);
      const path = `${visit.view.path}/vendors/search`;
      // #found scrolls to the results below the form.
      response.redirect(303, `${pathWithQuery(path, echo)}#found`);
    },
  } satisfies PageHandlers;
}

/** Returns the address that took the place of one of an earlier version: a search, or the page of a vendor. */
export function vendorsPath(url: string): string {
  const search = url.replace(/^(\/\w+)\/entities\/?(?=\?)/, "$1/vendors/search");
  return search.replace(/^(\/\w+)\/entities/, "$1/vendors");
}

function matchesOf({ entity, confidence, explanation, candidates }: LookUpResponse): readonly Candidate[] {
  if (!entity) return candidates;
  const { id, legalName } = entity;
  return [create(CandidateSchema, { id, legalName, confidence, explanation })];
}
