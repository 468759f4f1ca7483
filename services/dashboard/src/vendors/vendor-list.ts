import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { isId } from "@vvs/ids";
import { type Vendor, VendorFilter, VendorOrder, type VendorPosition } from "@vvs/proto/entity/v1/vendors";
import type { CallOptions } from "@vvs/rpc";
import { field, pathWithQuery } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { listPage } from "../page/list-page.ts";
import type { PageContext } from "../page/page-context.ts";
import { choiceField, readFilter } from "../ui/filter.ts";
import { dayTime, noticeOf, state, timeAgo } from "../ui/parts.ts";
import { aside, none } from "../ui/table.ts";
import { noChangeText, staleHint } from "../verdicts/confirmed-words.ts";
import {
  confirmedLast,
  confirmedTo,
  noRuns,
  readScheduledRuns,
  type ScheduledRun,
} from "../verdicts/read-confirmed.ts";
import { type VendorStatus, vendorStatus } from "../verdicts/vendor-status.ts";

interface Shown {
  readonly text: string;
  readonly filter: VendorFilter;
  readonly days?: number;
  /** The order that this filter always has. */
  readonly order?: string;
}

const soonestFirst = "in the order of their expiration dates";

/** Which vendors the list can show, by the value in its address; "" shows all but archived ones. */
export const shown: Readonly<Record<string, Shown>> = {
  "": { text: "all", filter: VendorFilter.UNSPECIFIED },
  failed: { text: "failed", filter: VendorFilter.FAILED },
  excluded: { text: "excluded", filter: VendorFilter.EXCLUDED },
  error: { text: "without an answer", filter: VendorFilter.ERROR },
  expired: { text: "registration expired", filter: VendorFilter.EXPIRED, order: soonestFirst },
  "expiring-30": { text: "expires within 30 days", filter: VendorFilter.EXPIRING, days: 30, order: soonestFirst },
  "expiring-60": { text: "expires within 60 days", filter: VendorFilter.EXPIRING, days: 60, order: soonestFirst },
  "expiring-90": { text: "expires within 90 days", filter: VendorFilter.EXPIRING, days: 90, order: soonestFirst },
  unchecked: {
    text: "not checked for 30 days",
    filter: VendorFilter.NOT_CHECKED,
    days: 30,
    order: "the longest unchecked first",
  },
  monitored: { text: "monitored", filter: VendorFilter.MONITORED },
  unmonitored: { text: "not monitored", filter: VendorFilter.NOT_MONITORED },
  archived: { text: "archived", filter: VendorFilter.ARCHIVED },
};

/** The orders to choose from, by the value in the list's address. */
export const sorts: Readonly<Record<string, { readonly text: string; readonly order: VendorOrder }>> = {
  "": { text: "name", order: VendorOrder.UNSPECIFIED },
  checked: { text: "last check, newest first", order: VendorOrder.LAST_CHECK_NEWEST },
  unchecked: { text: "last check, oldest first", order: VendorOrder.LAST_CHECK_OLDEST },
  expiry: { text: "expiration date", order: VendorOrder.EXPIRY },
};

const textsOf = (options: Readonly<Record<string, { readonly text: string }>>) =>
  Object.fromEntries(Object.entries(options).map(([value, { text }]) => [value, text]));

const fields = {
  show: choiceField("Show", textsOf(shown), {
    hintOf: (value) => shown[value]?.order && `This filter lists vendors ${shown[value].order}.`,
  }),
  sort: choiceField("Sort by", textsOf(sorts)),
};

type VendorListFilter = Readonly<Record<keyof typeof fields, string>>;

/** Returns a filter as fields of the request to the entity service. */
export function requestOf({ show, sort }: VendorListFilter) {
  const { filter, days } = shown[show]!;
  return { filter, order: (sorts[sort] ?? sorts[""])!.order, ...(days && { days }) };
}

type Place = Pick<VendorPosition, "value" | "entityId">;

/** Returns a place in the list as text for links. */
export const writePlace = ({ value, entityId }: Place): string => `${value}~${entityId}`;

/** Reads a place from a query parameter; undefined (the beginning of the list) if it is absent. Errors: ProblemError. */
function readPlace(text: unknown): Place | undefined {
  if (text === undefined) return undefined;
  const [, value = "", entityId = ""] = (typeof text === "string" && /^(.*)~(ent_[^~]*)$/s.exec(text)) || [];
  if (!isId("ent", entityId)) throw new ProblemError("malformed");
  return { value, entityId };
}

const notices = {
  archived: "The vendor was archived. Its monitors go on. You find it with the filter “archived”.",
  "taken-back": "The vendor is in the list again.",
};

/** A vendor with what its monitors' scheduled checks found, and what both say today. */
interface ListedVendor {
  readonly vendor: Vendor;
  readonly runs: readonly ScheduledRun[];
  readonly status: VendorStatus;
}

const yesNo = (is: boolean) => (is ? "yes" : "no");

/** Creates the list of the organization's vendors, and the form that archives one or takes it back. */
export function createVendorList(context: PageContext) {
  const { vendorList, auditLog, readPanel } = context;

  const { list, download } = listPage(context, {
    path: "/vendors",
    noun: "vendors",
    fields,
    positions: { read: readPlace, write: writePlace, links: ["First page", "Next page"] },
    limit: 50,
    async read(visit, filter, { limit, after, isForFile }) {
      const { caller } = visit;
      const { vendors, next } = await vendorList.listVendors({ caller, ...requestOf(filter), limit, after });
      const entityIds = vendors.map(({ entity }) => entity?.id ?? "");
      const readRuns = (options?: CallOptions) => readScheduledRuns(context, visit, { entityIds }, options);
      // A file without them would not say so.
      const scheduled = await (isForFile ? readRuns() : readPanel(visit, "scheduled checks of vendors", readRuns));
      const rows = vendors.map((vendor): ListedVendor => {
        const runs = scheduled?.get(vendor.entity?.id ?? "") ?? noRuns;
        return { vendor, runs, status: vendorStatus(vendor, runs, visit.now) };
      });
      return { rows, next, scheduled };
    },
    columns: ({ visit, filter }) => [
      [
        "Vendor",
        ({ vendor: { entity } }) =>
          html`<a href="${visit.view.path}/vendors/${entity?.id ?? ""}">${entity?.legalName ?? ""}</a>`,
        "long",
      ],
      ["Number", ({ vendor: { entity } }) => entity?.externalId || none(), "short"],
      [
        "Status",
        ({ status, runs }) =>
          html`${state(status.state, status.label)}${aside(...status.details, ...sinceThen(runs, visit.now))}`,
        "long",
      ],
      ["Last full check", ({ vendor: { lastCheckedAt: at } }) => timeAgo(at, visit.now) ?? none("never")],
      ["Expires", ({ vendor: { expirationDate: day } }) => (day ? dayTime(day) : none("unknown"))],
      ["Monitored", ({ vendor }) => (vendor.activeMonitors > 0 ? "yes" : none("no"))],
      visit.may("manage_monitors") && [
        "Archive",
        ({ vendor }) => archiveForm(visit.view.path, filter, vendor),
        "action",
      ],
    ],
    above: ({ scheduled }) =>
      !scheduled &&
      html`<p class="notice warning">What scheduled checks found is temporarily unavailable, so vendors that they confirmed can be shown as “Verify again”. Try again in a moment.</p>`,
    actions: ({ view, may }) =>
      html`<p class="choices">${may("verify") && html`<a class="button" href="${view.path}/verifications/new">Verify a vendor</a> `}<a class="button quiet" href="${view.path}/vendors/search">Search the registry</a> <a class="button quiet" href="${view.path}/screening">Screening report</a></p>`,
    notice: (request) => noticeOf(request, notices),
    heading: (_visit, { filter: { show } }) => (show === "" ? "Your vendors" : `Vendors: ${shown[show]!.text}`),
    empty({ view, may }) {
      const verify =
        may("verify") &&
        html`<a href="${view.path}/verifications/new">Verify a vendor</a>, or call <code>POST /v1/verify</code>.`;
      return html`<p class="empty">No vendors yet. Each vendor that your organization verifies, monitors or creates is listed here within seconds. ${verify}</p>`;
    },
    csv: [
      ["Vendor", ({ vendor }) => vendor.entity?.legalName ?? ""],
      ["Your vendor number", ({ vendor }) => vendor.entity?.externalId ?? ""],
      ["UEI", ({ vendor }) => vendor.entity?.identifiers.uei ?? ""],
      ["CAGE", ({ vendor }) => vendor.entity?.identifiers.cage ?? ""],
      ["Status", ({ status }) => status.label],
      ["Details", ({ status }) => status.details.join(" ")],
      ["Last check (UTC)", ({ vendor: { lastCheckedAt: at } }) => (at ? timestampDate(at).toISOString() : "")],
      ["Registration expires on", ({ vendor }) => vendor.expirationDate],
      ["Excluded", ({ vendor }) => yesNo(vendor.excluded)],
      ["Monitored", ({ vendor }) => yesNo(vendor.activeMonitors > 0)],
      ["Archived", ({ vendor }) => yesNo(vendor.archived)],
      ["Vendor ID", ({ vendor }) => vendor.entity?.id ?? ""],
      ["No change found up to (UTC)", ({ runs }) => confirmedTo(confirmedLast(runs)?.confirmed)],
    ],
  });

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
    list,
    download,

    // Repeating the form changes nothing, so it needs no token.
    async archive(request, response, visit) {
      const entityId = field(request, "entity_id");
      const archived = field(request, "archived") === "yes";
      if (!isId("ent", entityId)) throw new ProblemError("malformed");
      await setArchived(visit, entityId, archived);
      const { filter } = readFilter({ show: field(request, "show"), sort: field(request, "sort") }, fields);
      const done = archived ? "archived" : "taken-back";
      response.redirect(303, pathWithQuery(`${visit.view.path}/vendors`, { ...filter, done }));
    },
  } satisfies PageHandlers;
}

/** Returns what scheduled checks found after the last full check. */
function sinceThen(runs: readonly ScheduledRun[], now: Date): string[] {
  const confirmed = confirmedLast(runs)?.confirmed;
  const staleSince = runs.find((run) => run.staleSince)?.staleSince;
  return [...(confirmed ? [noChangeText(confirmed, now)] : []), ...(staleSince ? [staleHint(staleSince, now)] : [])];
}

function archiveForm(path: string, { show, sort }: VendorListFilter, { entity, archived }: Vendor): Html {
  return html`<form method="post" action="${path}/vendors/archive">
<input type="hidden" name="entity_id" value="${entity?.id ?? ""}"><input type="hidden" name="archived" value="${archived ? "no" : "yes"}">
<input type="hidden" name="show" value="${show}"><input type="hidden" name="sort" value="${sort}">
<button class="quiet">${archived ? "Take back" : "Archive"}<span class="unseen"> ${entity?.legalName ?? ""}</span></button></form>`;
}
