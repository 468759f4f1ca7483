import { create } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import { identifierTypes } from "@vvs/identifiers";
import { isId } from "@vvs/ids";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import { type Candidate, CandidateSchema } from "@vvs/proto/common/v1/common";
import type { Entity, LookUpResponse } from "@vvs/proto/entity/v1/entity";
import type { Request, Response } from "express";
import { field } from "../http/form.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { readPosition } from "../ui/list-position.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { entitiesPage, type Findings } from "./entities-page.ts";
import { entityPage, entityUnavailablePage } from "./entity-page.ts";
import { echoOfSearch, readSearch, searchQuery, type TypedSearch, type WantedSearch } from "./entity-search.ts";
import { historyOf } from "./snapshot-history.ts";

const OWN_SHOWN = 10;
const VERSIONS_SHOWN = 20;
const VERIFICATIONS_SHOWN = 5;
const MONITORS_SHOWN = 10;

export function createEntityHandlers({
  entities,
  verification,
  monitors,
  apiKeys,
  readVendors,
  layout,
  logger,
}: PageContext) {
  async function withVendors(visit: Visit, matches: readonly Candidate[]): Promise<Findings> {
    const items = matches.map(({ id }) => ({ entityId: id }));
    return { matches, vendors: await readVendors(visit, items) };
  }

  async function find(visit: Visit, wanted: WantedSearch): Promise<Findings> {
    try {
      const answer = await entities.lookUp({ ...wanted, caller: visit.caller, explain: true });
      return await withVendors(visit, matchesOf(answer));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message, candidates = [] } = error;
      if (code === "entity_not_found") return { matches: [], vendors: new Map(), none: message };
      if (code === "ambiguous_match") {
        return { ...(await withVendors(visit, candidates)), ambiguous: message };
      }
      throw error;
    }
  }

  async function own(visit: Visit): Promise<readonly Entity[] | undefined> {
    const asked = { caller: visit.caller, page: { limit: OWN_SHOWN } };
    return (await unlessUnavailable(logger, visit, () => entities.listEntities(asked)))?.entities;
  }

  async function show(response: Response, visit: Visit, typed: TypedSearch): Promise<void> {
    const { wanted, problems } = readSearch(typed);
    const findings = wanted && (await unlessUnavailable(logger, visit, () => find(visit, wanted)));
    const isUnavailable = wanted !== undefined && findings === undefined;
    const content = entitiesPage({
      view: visit.view,
      input: echoOfSearch(typed),
      problems,
      findings,
      isUnavailable,
      own: wanted || problems ? undefined : await own(visit),
    });
    const status = isUnavailable ? 503 : problems ? 400 : 200;
    layout.sendPage(response, { visit, section: "entities", title: "Entities", status, content });
  }

  /** Returns the API keys, to name who changed an entity; without them the page shows only an id. */
  async function keysOf(visit: Visit): Promise<readonly ApiKey[]> {
    const read = () => apiKeys.listApiKeys({ caller: visit.caller });
    return (await unlessUnavailable(logger, visit, read))?.keys ?? [];
  }

  async function history(visit: Visit, entityId: string, after: ReturnType<typeof readPosition>) {
    const { caller } = visit;
    const { snapshots, next } = await entities.listSnapshots({
      caller,
      entityId,
      page: { limit: VERSIONS_SHOWN, after },
    });
    const older = next && (await entities.listSnapshots({ caller, entityId, page: { limit: 1, after: next } }));
    return { entries: historyOf(snapshots, older?.snapshots[0]), next, isFirst: after === undefined };
  }

  return {
    async search(request, response, visit) {
      await show(response, visit, searchOf(request.query));
    },

    // A search without a TIN gets an address of its own, so that it can be bookmarked. A TIN never gets into an address.
    async submit(request, response, visit) {
      const typed = searchOf(
        Object.fromEntries(fields.map((name) => [name, field(request, name)])),
        field(request, "tin"),
      );
      const echo = echoOfSearch(typed);
      const isWhole = identifierTypes.every((type) => type === "tin" || echo[type] === typed[type].trim());
      if (typed.tin.trim() !== "" || !isWhole || readSearch(typed).problems) return show(response, visit, typed);
      const query = searchQuery(echo);
      // #found scrolls to the results below the form.
      response.redirect(303, `${visit.view.path}/entities${query && `?${query}#found`}`);
    },

    async view(request, response, visit) {
      const page = { visit, section: "entities", title: "Entity" } as const;
      const id = String(request.params.entity_id);
      if (!isId("ent", id)) throw new ProblemError("page_not_found");
      const after = readPosition(request.query.after, "snp");
      const { caller } = visit;
      const found = await unlessUnavailable(logger, visit, () => entities.getEntity({ caller, entityId: id }));
      if (!found) return layout.sendPage(response, { ...page, status: 503, content: entityUnavailablePage() });
      const asked = { caller, entityId: id, page: { limit: VERIFICATIONS_SHOWN } };
      const askedMonitors = { caller, entityId: id, page: { limit: MONITORS_SHOWN } };
      const [past, verifications, watching, keys] = await Promise.all([
        unlessUnavailable(logger, visit, () => history(visit, id, after)),
        unlessUnavailable(logger, visit, () => verification.listVerifications(asked)),
        unlessUnavailable(logger, visit, () => monitors.listMonitors(askedMonitors)),
        keysOf(visit),
      ]);
      const content = entityPage({
        view: visit.view,
        entity: found.entity!,
        history: past,
        verifications: verifications?.verifications,
        monitors: watching?.monitors,
        mayVerify: visit.may("verify"),
        mayMonitor: visit.may("manage_monitors"),
        known: { session: visit.session, keys },
      });
      layout.sendPage(response, { ...page, title: found.entity!.legalName, content });
    },
  } satisfies PageHandlers;
}

const fields = ["uei", "cage", "duns", "legal_name", "address", "mode"] as const;

function searchOf(values: Request["query"], tin = ""): TypedSearch {
  const text = (name: (typeof fields)[number]) => {
    const value = values[name];
    return typeof value === "string" ? value : "";
  };
  return {
    uei: text("uei"),
    cage: text("cage"),
    duns: text("duns"),
    tin,
    legal_name: text("legal_name"),
    address: text("address"),
    exact: text("mode") === "exact",
  };
}

function matchesOf({ entity, confidence, explanation, candidates }: LookUpResponse): readonly Candidate[] {
  if (!entity) return candidates;
  const { id, legalName } = entity;
  return [create(CandidateSchema, { id, legalName, confidence, explanation })];
}
