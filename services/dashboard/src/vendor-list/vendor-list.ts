import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { isId } from "@vvs/ids";
import type { Vendor } from "@vvs/proto/entity/v1/vendors";
import { utcDay } from "@vvs/registration";
import { confirmedLast } from "../confirmed/confirmation.ts";
import { noRuns, readScheduledRuns, type ScheduledRuns } from "../confirmed/read-confirmed.ts";
import { sendCsv } from "../http/csv.ts";
import { field } from "../http/form.ts";
import { pathWithQuery } from "../http/paths.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { noticeOf } from "../ui/notices.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { readPlace, readVendorFilter, requestOf, type VendorListFilter } from "./vendor-filter.ts";
import { vendorListPage } from "./vendor-list-page.ts";
import { vendorStatus } from "./vendor-status.ts";

const PAGE_SIZE = 50;
const CSV_PAGE_SIZE = 100;
/** Maximum number of vendors in a CSV file. */
const MAX_ROWS = 100_000;

const notices = {
  archived: "The vendor was archived. Its monitors go on. You find it with the filter “archived”.",
  "taken-back": "The vendor is in the list again.",
};

const COLUMNS = [
  "Vendor",
  "Your vendor number",
  "UEI",
  "CAGE",
  "Status",
  "Details",
  "Last check (UTC)",
  "Registration expires on",
  "Excluded",
  "Monitored",
  "Archived",
  "Vendor ID",
  "No change found up to (UTC)",
];

export function createVendorListHandlers(context: PageContext) {
  const { vendorList, auditLog, layout, logger, readPanel, now } = context;

  /** Reads what scheduled checks made of vendors' monitors; undefined while unavailable. */
  const readScheduled = (visit: Visit, vendors: readonly Vendor[]) =>
    readPanel(visit, "scheduled checks of vendors", (options) =>
      readScheduledRuns(context, visit, { entityIds: vendors.map(({ entity }) => entity?.id ?? "") }, options),
    );

  /** Reads a whole list in chunks of rows, up to the maximum. */
  async function* rowsOf(visit: Visit, { filter }: VendorListFilter) {
    const { caller } = visit;
    const today = now();
    let after: Parameters<typeof vendorList.listVendors>[0]["after"];
    for (let count = 0; count < MAX_ROWS; count += CSV_PAGE_SIZE) {
      const { vendors, next } = await vendorList.listVendors({
        caller,
        ...requestOf(filter),
        limit: CSV_PAGE_SIZE,
        ...(after && { after }),
      });
      const scheduled = await readScheduled(visit, vendors);
      yield vendors.map((vendor) => rowOf(vendor, scheduled, today));
      if (!next) return;
      after = next;
    }
    yield [[`Only the first ${MAX_ROWS} vendors are in this file. Choose a filter to get the others.`]];
  }

  /** Archives a vendor, or takes it back. A change is in the audit log before it is made; without its entry it is not made. */
  async function setArchived({ caller }: Visit, entityId: string, archived: boolean): Promise<void> {
    const { vendors } = await vendorList.getVendors({ caller, entityIds: [entityId] });
    const [vendor] = vendors;
    if (!vendor) throw new ServiceError("entity_not_found");
    if (vendor.archived === archived) return;
    const action = archived ? "vendor.archived" : "vendor.restored";
    await auditLog.appendAuditEntry({ caller, action, target: entityId });
    await vendorList.setVendorArchived({ caller, entityId, archived });
  }

  return {
    async list(request, response, visit) {
      const list = readVendorFilter(request.query);
      const after = readPlace(request.query.after);
      const page = { caller: visit.caller, limit: PAGE_SIZE, ...(after && { after }) };
      const found = list.isRefused
        ? undefined
        : await unlessUnavailable(logger, visit, () => vendorList.listVendors({ ...requestOf(list.filter), ...page }));
      const notice = noticeOf(request, notices);
      const scheduled = found && (await readScheduled(visit, found.vendors));
      const content = vendorListPage({
        ...{ visit, list, found, scheduled, isFirst: after === undefined, notice, now: now() },
      });
      const status = list.isRefused ? 400 : found ? 200 : 503;
      layout.sendPage(response, { visit, section: "vendors", title: "Vendors", status, content });
    },

    async download(request, response, visit) {
      const list = readVendorFilter(request.query);
      if (list.isRefused) throw new ProblemError("malformed");
      const name = ["vendors", visit.view.name.toLowerCase(), list.filter.show, utcDay(now())];
      await sendCsv(response, `${name.filter(Boolean).join("-")}.csv`, COLUMNS, rowsOf(visit, list));
    },

    // Repeating the form changes nothing, so it needs no token.
    async archive(request, response, visit) {
      const entityId = field(request, "entity_id");
      const archived = field(request, "archived") === "yes";
      if (!isId("ent", entityId)) throw new ProblemError("malformed");
      await setArchived(visit, entityId, archived);
      const { filter } = readVendorFilter({ show: field(request, "show"), sort: field(request, "sort") });
      const done = archived ? "archived" : "taken-back";
      response.redirect(303, pathWithQuery(`${visit.view.path}/vendors`, { ...filter, done }));
    },
  } satisfies PageHandlers;
}

function rowOf(vendor: Vendor, scheduled: ScheduledRuns | undefined, now: Date): string[] {
  const runs = scheduled?.get(vendor.entity?.id ?? "") ?? noRuns;
  const status = vendorStatus(vendor, runs, now);
  const { entity, lastCheckedAt, expirationDate, excluded, activeMonitors, archived } = vendor;
  const yesNo = (is: boolean) => (is ? "yes" : "no");
  return [
    entity?.legalName ?? "",
    entity?.externalId ?? "",
    entity?.identifiers.uei ?? "",
    entity?.identifiers.cage ?? "",
    status.label,
    status.details.join(" "),
    lastCheckedAt ? timestampDate(lastCheckedAt).toISOString() : "",
    expirationDate,
    yesNo(excluded),
    yesNo(activeMonitors > 0),
    yesNo(archived),
    entity?.id ?? "",
    confirmedLast(runs)?.confirmation?.lastAt.toISOString() ?? "",
  ];
}
