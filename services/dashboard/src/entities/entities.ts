import { create } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import { type Candidate, CandidateSchema } from "@vvs/proto/common/v1/common";
import type { LookUpResponse } from "@vvs/proto/entity/v1/entity";
import type { Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { pathId, pathWithQuery } from "../http/paths.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { type ListPosition, readPosition } from "../ui/list-position.ts";
import { noticeOf } from "../ui/notices.ts";
import { unavailablePage, unlessUnavailable } from "../ui/panels.ts";
import { readKeys } from "../ui/read-keys.ts";
import { entitiesPage, type Findings } from "./entities-page.ts";
import { entityPage, entityUnavailable } from "./entity-page.ts";
import { echoOfSearch, readSearch, type SearchInput, searchInput } from "./entity-search.ts";
import { createSearchLimit } from "./search-limit.ts";
import { historyOf } from "./snapshot-history.ts";

const OWN_SHOWN = 10;
const VERSIONS_SHOWN = 20;
const VERIFICATIONS_SHOWN = 5;
const MONITORS_SHOWN = 10;

const notices = { numbered: "Your vendor number was saved." };

type SearchRequest = NonNullable<ReturnType<typeof readSearch>["request"]>;

export function createEntityHandlers(context: PageContext) {
  const { entities, verification, monitors, organization, readVendors, layout, logger } = context;
  const countSearch = createSearchLimit(context);

  async function find(visit: Visit, search: SearchRequest): Promise<Findings> {
    const { limitPerMinute } = await organization.getOrganization({ caller: visit.caller });
    countSearch(visit.session.organizationId, limitPerMinute);
    const withVendors = async (matches: readonly Candidate[]) => {
      const items = matches.map(({ id }) => ({ entityId: id }));
      return { matches, vendors: await readVendors(visit, items) };
    };
    try {
      return await withVendors(matchesOf(await entities.lookUp({ ...search, caller: visit.caller, explain: true })));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message, candidates = [] } = error;
      if (code === "entity_not_found") return { ...(await withVendors([])), none: message };
      if (code !== "ambiguous_match") throw error;
      return { ...(await withVendors(candidates)), ambiguous: message };
    }
  }

  async function show(response: Response, visit: Visit, typed: SearchInput): Promise<void> {
    const { request, problems } = readSearch(typed);
    const findings = request && (await unlessUnavailable(logger, visit, () => find(visit, request)));
    const isUnavailable = request !== undefined && findings === undefined;
    const newest = { caller: visit.caller, page: { limit: OWN_SHOWN } };
    const own =
      request || problems
        ? undefined
        : (await unlessUnavailable(logger, visit, () => entities.listEntities(newest)))?.entities;
    const input = echoOfSearch(typed);
    const content = entitiesPage({ view: visit.view, input, problems, findings, isUnavailable, own });
    const status = isUnavailable ? 503 : problems ? 400 : 200;
    layout.sendPage(response, { visit, section: "entities", title: "Entities", status, content });
  }

  async function readHistory({ caller }: Visit, entityId: string, after: ListPosition | undefined) {
    const list = (page: { limit: number; after: ListPosition | undefined }) =>
      entities.listSnapshots({ caller, entityId, page });
    const { snapshots, next } = await list({ limit: VERSIONS_SHOWN, after });
    const older = next && (await list({ limit: 1, after: next }));
    return { entries: historyOf(snapshots, older?.snapshots[0]), next, isFirst: after === undefined };
  }

  return {
    search: (request, response, visit) =>
      show(response, visit, { ...searchInput((name) => queryValue(request, name)), tin: "" }),

    // A search without a TIN gets an address of its own, so that it can be bookmarked. A TIN never gets into an address.
    async submit(request, response, visit) {
      const typed = searchInput((name) => field(request, name));
      const echo = echoOfSearch(typed);
      const isWhole = (["uei", "cage", "duns"] as const).every((type) => echo[type] === typed[type]);
      if (typed.tin !== "" || !isWhole || readSearch(typed).problems) return show(response, visit, typed);
      const path = `${visit.view.path}/entities`;
      const result = pathWithQuery(path, echo);
      // #found scrolls to the results below the form.
      response.redirect(303, result === path ? path : `${result}#found`);
    },

    async view(request, response, visit) {
      const page = { visit, section: "entities", title: "Entity" } as const;
      const entityId = pathId(request, "entity_id", "ent");
      const after = readPosition(request.query.after, "snp");
      const { caller } = visit;
      const found = await unlessUnavailable(logger, visit, () => entities.getEntity({ caller, entityId }));
      if (!found) return layout.sendPage(response, unavailablePage(page, entityUnavailable));
      const newestVerifications = { caller, entityId, page: { limit: VERIFICATIONS_SHOWN } };
      const newestMonitors = { caller, entityId, page: { limit: MONITORS_SHOWN } };
      const [history, verifications, watching, keys] = await Promise.all([
        unlessUnavailable(logger, visit, () => readHistory(visit, entityId, after)),
        unlessUnavailable(logger, visit, () => verification.listVerifications(newestVerifications)),
        unlessUnavailable(logger, visit, () => monitors.listMonitors(newestMonitors)),
        readKeys(context, visit),
      ]);
      const content = entityPage({
        visit,
        entity: found.entity!,
        history,
        verifications: verifications?.verifications,
        monitors: watching?.monitors,
        keys,
        notice: noticeOf(request, notices),
      });
      layout.sendPage(response, { ...page, title: found.entity!.legalName, content });
    },
  } satisfies PageHandlers;
}

function matchesOf({ entity, confidence, explanation, candidates }: LookUpResponse): readonly Candidate[] {
  if (!entity) return candidates;
  const { id, legalName } = entity;
  return [create(CandidateSchema, { id, legalName, confidence, explanation })];
}
