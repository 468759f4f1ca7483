import { ServiceError } from "@vvs/errors";
import { containsTin } from "@vvs/identifiers";
import type { Response } from "express";
import { field } from "../http/form.ts";
import type { Html } from "../http/html.ts";
import { pathWithQuery } from "../http/paths.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { findPage } from "./find-page.ts";
import { idPath } from "./id-path.ts";

const UEI = /^[A-Z0-9]{12}$/;
const CAGE = /^[A-Z0-9]{5}$/;
/** Maximum number of vendors listed that have the same number. */
const MAX_FOUND = 20;

/** Creates the handler of the search box on every page: it leads to what an id, an identifier, a number or a name means. */
export function createFindHandlers(context: PageContext) {
  const { entities, monitors, organization, countSearch, readVendors, layout } = context;

  function send(response: Response, visit: Visit, status: number, content: Html): void {
    layout.sendPage(response, { visit, section: "vendors", title: "Find", status, content });
  }

  /** Returns the ids of the vendors that have this UEI, CAGE code or number of the organization's own. */
  async function vendorsWith({ caller }: Visit, text: string): Promise<string[]> {
    const page = { limit: MAX_FOUND };
    const code = text.toUpperCase();
    const identifiers = UEI.test(code) ? { uei: code } : CAGE.test(code) ? { cage: code } : undefined;
    const [named, watched, found] = await Promise.all([
      entities.listEntities({ caller, externalId: text, page }),
      monitors.listMonitors({ caller, externalId: text, page }),
      identifiers && entities.lookUp({ caller, identifiers }).catch(ignoreNone),
    ]);
    const ids = [
      ...named.entities.map(({ id }) => id),
      ...watched.monitors.map(({ entityId }) => entityId),
      ...(found?.entity ? [found.entity.id] : []),
    ];
    return [...new Set(ids)];
  }

  return {
    async find(request, response, visit) {
      const text = field(request, "q").trim();
      const { path } = visit.view;
      const go = (to: string) => response.redirect(303, path + to);
      if (text === "") return go("/vendors");
      const known = idPath(text);
      if (known) return go(known);
      // The text is not shown again: it may be a TIN that was entered by mistake.
      if (containsTin(text)) return send(response, visit, 400, findPage({ visit, isRefused: true }));
      const { limitPerMinute } = await organization.getOrganization({ caller: visit.caller });
      countSearch(visit.session.organizationId, limitPerMinute);
      const found = await vendorsWith(visit, text);
      if (found.length === 1) return go(`/vendors/${found[0]}`);
      if (found.length === 0) return go(`${pathWithQuery("/vendors/search", { legal_name: text })}#found`);
      const vendors = await readVendors(
        visit,
        found.map((entityId) => ({ entityId })),
      );
      send(response, visit, 200, findPage({ visit, found, vendors }));
    },
  } satisfies PageHandlers;
}

/** A text that only looks like an identifier is a name. Other errors are thrown as they are. */
function ignoreNone(error: unknown): undefined {
  if (error instanceof ServiceError && ["entity_not_found", "ambiguous_match"].includes(error.code)) return undefined;
  throw error;
}
