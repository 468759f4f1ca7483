import { ServiceError } from "@vvs/errors";
import { containsTin } from "@vvs/identifiers";
import { isId } from "@vvs/ids";
import { field, pathWithQuery } from "../http/form.ts";
import { html } from "../http/html.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { vendorName } from "../page/panels.ts";
import { problemNotice } from "../ui/parts.ts";
import type { CountSearch } from "./search-input.ts";

const UEI = /^[A-Z0-9]{12}$/;
const CAGE = /^[A-Z0-9]{5}$/;
/** Maximum number of vendors listed that have the same number. */
const MAX_FOUND = 20;

/** Creates the handler of the search box on every page: it leads to what an id, an identifier, a number or a name means. */
export function createFindHandlers(context: PageContext, countSearch: CountSearch) {
  const { entities, monitors, organization, readVendors, layout } = context;

  /** Returns the ids of the vendors that have this UEI, CAGE code or number of the organization's own. */
  async function vendorsWith({ caller }: Visit, text: string): Promise<string[]> {
    const page = { limit: MAX_FOUND };
    const code = text.toUpperCase();
    const identifiers = UEI.test(code) ? { uei: code } : CAGE.test(code) ? { cage: code } : undefined;
    const [named, watched, found] = await Promise.all([
      entities.listEntities({ caller, externalId: text, page }),
      monitors.listMonitors({ caller, externalId: text, page }),
      identifiers ? entities.lookUp({ caller, identifiers }).then(({ entity }) => [entity!], candidatesOf) : [],
    ]);
    const ids = [
      ...named.entities.map(({ id }) => id),
      ...watched.monitors.map(({ entityId }) => entityId),
      ...found.map(({ id }) => id),
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
      if (containsTin(text)) return layout.sendPage(response, { visit, ...refusedPage(path), status: 400 });
      const { limitPerMinute } = await organization.getOrganization({ caller: visit.caller });
      countSearch(visit.session.organizationId, limitPerMinute);
      const found = await vendorsWith(visit, text);
      if (found.length === 1) return go(`/vendors/${found[0]}`);
      if (found.length === 0) return go(`${pathWithQuery("/vendors/search", { legal_name: text })}#found`);
      const vendors = await readVendors(
        visit,
        found.map((entityId) => ({ entityId })),
      );
      const title = `${found.length} vendors have this number`;
      const content = html`<ul class="rows">${found.map((id) => html`<li><a href="${path}/vendors/${id}">${vendorName(vendors, id)}</a></li>`)}</ul>`;
      layout.sendPage(response, { visit, title, content });
    },
  } satisfies PageHandlers;
}

/** Returns the vendors that an identifier may mean: none if the text only looks like one. Throws other errors. */
function candidatesOf(error: unknown): readonly { readonly id: string }[] {
  if (error instanceof ServiceError && error.code === "entity_not_found") return [];
  if (error instanceof ServiceError && error.code === "ambiguous_match") return error.candidates ?? [];
  throw error;
}

/** Says why a text was not searched for. */
const refusedPage = (path: string) => ({
  title: "Nothing was searched for",
  notice: problemNotice(
    "The text contains nine digits, which can be a TIN. It was not searched for, to keep TINs out of addresses and logs.",
  ),
  content: html`<p><a class="button" href="${path}/vendors/search">Search by TIN or D-U-N-S number</a></p>`,
});

/** The page of each kind of id, below the environment. Deliveries, requests and uses of keys are found by filters. */
const pages = {
  ent: (id: string) => `/vendors/${id}`,
  ver: (id: string) => `/verifications/${id}`,
  evd: (id: string) => `/evidence/${id}`,
  mon: (id: string) => `/monitors/${id}`,
  job: (id: string) => `/lists/${id}`,
  dlv: (id: string) => `/webhooks/deliveries/${id}`,
  evt: (id: string) => `/webhooks/deliveries?event_id=${id}`,
  req: (id: string) => `/requests?request_id=${id}`,
  key: (id: string) => `/usage?key=${id}`,
  usr: () => "/organization/members",
  inv: () => "/organization/members",
} as const;

/** Returns the path of the page of an id, below the environment; undefined for other texts and for ids without a page. */
function idPath(text: string): string | undefined {
  const id = text.toLowerCase();
  const prefix = id.slice(0, 3);
  if (!Object.hasOwn(pages, prefix)) return undefined;
  return isId(prefix as keyof typeof pages, id) ? pages[prefix as keyof typeof pages](id) : undefined;
}
