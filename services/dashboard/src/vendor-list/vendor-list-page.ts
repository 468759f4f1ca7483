import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListVendorsResponse, Vendor } from "@vvs/proto/entity/v1/vendors";
import { confirmedLast, type ScheduledRun } from "../confirmed/confirmation.ts";
import { noChangeText, staleHint } from "../confirmed/confirmed-words.ts";
import { noRuns, type ScheduledRuns } from "../confirmed/read-confirmed.ts";
import { type Html, html } from "../http/html.ts";
import { pathWithQuery } from "../http/paths.ts";
import type { Visit } from "../http/session.ts";
import { ago, dayTime } from "../ui/dates.ts";
import { option, selectField } from "../ui/fields.ts";
import { filterBox } from "../ui/filter-box.ts";
import { listing, partOfList } from "../ui/listing.ts";
import { type Notice, noticeBox, state } from "../ui/parts.ts";
import { shown, sorts, type VendorListFilter, writePlace } from "./vendor-filter.ts";
import { vendorStatus } from "./vendor-status.ts";

interface VendorListView {
  readonly visit: Visit;
  readonly list: VendorListFilter;
  /** Undefined while unavailable. */
  readonly found: ListVendorsResponse | undefined;
  /** Undefined while unavailable. */
  readonly scheduled: ScheduledRuns | undefined;
  readonly isFirst: boolean;
  readonly notice: Notice | undefined;
  readonly now: Date;
}

const unavailable = html`<p class="notice problem" role="alert">Vendors can’t be shown, because a service is temporarily unavailable. No data is lost. Try again in a moment.</p>`;

export function vendorListPage(options: VendorListView): Html {
  const { visit, list } = options;
  const { view, may } = visit;
  return html`<div class="heading"><h1>Vendors</h1>
<p class="choices">${may("verify") && html`<a class="button" href="${view.path}/verifications/new">Verify a vendor</a> `}<a class="button quiet" href="${view.path}/vendors/search">Search the registry</a> <a class="button quiet" href="${view.path}/screening">Screening report</a></p></div>
${noticeBox(options.notice)}
${filterForm(options)}
${
  !list.isRefused &&
  html`<section aria-labelledby="list">
<h2 id="list">${list.filter.show === "" ? "Your vendors" : `Vendors: ${shown[list.filter.show]!.text}`}</h2>
${vendorTable(options)}
</section>`
}`;
}

function filterForm({ visit: { view }, list }: VendorListView): Html {
  const { filter, problems } = list;
  const { order } = shown[filter.show]!;
  const choices = Object.entries(shown).map(([value, { text }]) => option(value, filter.show, text));
  const orders = Object.entries(sorts).map(([value, { text }]) => option(value, filter.sort, text));
  const fields = html`${selectField({ name: "show", label: "Show", options: choices, problem: problems.show })}
    ${selectField({ name: "sort", label: "Sort by", options: orders, hint: order && `This filter lists vendors ${order}.`, problem: problems.sort })}`;
  return filterBox({ path: `${view.path}/vendors`, label: "Filter vendors", list, fields, all: "Show all vendors" });
}

function vendorTable(options: VendorListView): Html {
  const { visit, list, found, isFirst } = options;
  const { view } = visit;
  const mayArchive = visit.may("manage_monitors");
  return listing(found?.vendors, {
    unavailable,
    empty: found?.next ? pager(options) : nothing(options),
    list: (vendors) => html`<table class="vendors">
<thead><tr><th scope="col">Vendor</th><th scope="col">Your number</th><th scope="col">Status</th><th scope="col">Last full check</th><th scope="col">Expires</th><th scope="col">Monitored</th>${mayArchive && html`<th scope="col"><span class="unseen">Archive</span></th>`}</tr></thead>
<tbody>${vendors.map((vendor) => row(options, vendor))}</tbody>
</table>
<p class="choices below unprinted"><a class="button quiet" href="${pathWithQuery(`${view.path}/vendors.csv`, list.filter)}">Download as CSV</a> <span class="hint">All vendors of this list${!isFirst && ", from its beginning"}.</span></p>
${pager(options)}`,
  });
}

function nothing({ visit: { view, may }, list, isFirst }: VendorListView): Html | string {
  if (!isFirst) return "There are no further vendors.";
  if (list.filter.show !== "") return "No vendors match the filter.";
  const verify = may("verify") && html`<a href="${view.path}/verifications/new">Verify a vendor</a>, or call `;
  return html`<p class="empty">No vendors yet. Each vendor that your organization verifies, monitors or creates is listed here within seconds. ${verify}${verify && html`<code>POST /v1/verify</code>.`}</p>`;
}

function row({ visit, list, scheduled, now }: VendorListView, vendor: Vendor): Html {
  const { view } = visit;
  const { entity, expirationDate, activeMonitors, lastCheckedAt, archived } = vendor;
  const { id = "", legalName = "", externalId = "" } = entity ?? {};
  const runs = scheduled?.get(id) ?? noRuns;
  const status = vendorStatus(vendor, runs, now);
  const none = html`<span class="hint">none</span>`;
  return html`<tr>
<th scope="row"><a href="${view.path}/vendors/${id}">${legalName}</a></th>
<td data-label="Your number">${externalId || none}</td>
<td data-label="Status">${state(status.state, status.label)}<ul class="plain hint">${status.details.map((text) => html`<li>${text}</li>`)}</ul></td>
<td data-label="Last full check">${lastCheckedAt ? ago(timestampDate(lastCheckedAt), now) : html`<span class="hint">never</span>`}${sinceThen(runs, now)}</td>
<td data-label="Expires">${expirationDate ? dayTime(expirationDate) : html`<span class="hint">unknown</span>`}</td>
<td data-label="Monitored">${activeMonitors > 0 ? "yes" : html`<span class="hint">no</span>`}</td>
${visit.may("manage_monitors") && html`<td class="action">${archiveForm(view.path, list, { id, legalName, archived })}</td>`}
</tr>
`;
}

/** What scheduled checks found after the last full check. */
function sinceThen(runs: readonly ScheduledRun[], now: Date): Html {
  const confirmation = confirmedLast(runs)?.confirmation;
  const staleSince = runs.find((run) => run.staleSince)?.staleSince;
  const texts = [confirmation && noChangeText(confirmation, now), staleSince && staleHint(staleSince, now)];
  return html`${texts.map((text) => text && html`<p class="hint since">${text}</p>`)}`;
}

function archiveForm(
  path: string,
  { filter }: VendorListFilter,
  { id, legalName, archived }: { id: string; legalName: string; archived: boolean },
): Html {
  const label = archived ? "Take back" : "Archive";
  return html`<form method="post" action="${path}/vendors/archive">
<input type="hidden" name="entity_id" value="${id}"><input type="hidden" name="archived" value="${archived ? "no" : "yes"}">
<input type="hidden" name="show" value="${filter.show}"><input type="hidden" name="sort" value="${filter.sort}">
<button class="quiet">${label}<span class="unseen"> ${legalName}</span></button></form>`;
}

function pager({ visit: { view }, list, found, isFirst }: VendorListView): Html {
  const path = `${view.path}/vendors`;
  const next = found?.next && pathWithQuery(path, { ...list.filter, after: writePlace(found.next) });
  return html`<nav class="pager" aria-label="Pages">
${(!isFirst || next) && partOfList}
${!isFirst && html`<a class="button quiet" href="${pathWithQuery(path, list.filter)}">First page</a>`}
${next && html`<a class="button quiet" href="${next}" rel="next">Next page</a>`}
</nav>`;
}
