import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf } from "@vvs/checks";
import type { ListVerificationsResponse, Result, Verification } from "@vvs/proto/verification/v1/verification";
import type { ListFilter } from "../http/filter.ts";
import { type Html, html } from "../http/html.ts";
import { pathWithQuery } from "../http/paths.ts";
import type { Visit } from "../http/session.ts";
import { checkTitle, outcomeState } from "../ui/checks.ts";
import { asCurl } from "../ui/curl.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { inputField, VERBATIM } from "../ui/fields.ts";
import { filterBox } from "../ui/filter-box.ts";
import { listing, pager } from "../ui/listing.ts";
import { timeAgo } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";
import { verdictOf } from "../ui/verdict.ts";
import type { Vendors } from "../vendors/vendors.ts";

interface VerificationsView {
  readonly visit: Visit;
  readonly list: ListFilter<"entity_id">;
  /** Undefined while unavailable. */
  readonly found: ListVerificationsResponse | undefined;
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  readonly isFirst: boolean;
  /** The API as its clients see it. */
  readonly apiBaseUrl: URL;
}

/** Shown in place of a page's content while the verification service is unavailable. */
export const verificationUnavailable = html`<p class="notice problem" role="alert">This page can’t be shown: the verification service is temporarily unavailable. No data is lost, and you can still manage API keys and webhooks. Try again in a moment.</p>`;

export function verificationsPage(options: VerificationsView): Html {
  const { visit, list } = options;
  const { view } = visit;
  return html`<div class="heading"><h1>Verifications</h1>
${visit.may("verify") && html`<p><a class="button" href="${view.path}/verifications/new">Run a verification</a></p>`}</div>
${filterForm(view, list)}
<section aria-labelledby="list">
<h2 id="list">${list.isNarrowed ? "Verifications of this vendor" : `All ${view.name.toLowerCase()} verifications`}</h2>
${!list.isRefused && verificationList(options)}
</section>
${asCurl(
  { path: pathWithQuery("/v1/verifications", list.isRefused ? {} : list.filter) },
  { baseUrl: options.apiBaseUrl, operation: "listVerifications", id: "list-curl", label: "List verifications" },
)}`;
}

function filterForm(view: EnvironmentView, list: VerificationsView["list"]): Html {
  return filterBox({
    path: `${view.path}/verifications`,
    label: "Filter verifications",
    list,
    fields: inputField({
      name: "entity_id",
      label: "Vendor ID",
      attributes: html` maxlength="100"${VERBATIM} placeholder="ent_…"`,
      value: list.filter.entity_id,
      problem: list.problems.entity_id,
    }),
  });
}

function verificationList(options: VerificationsView): Html {
  const { visit, list, found, vendors, isFirst } = options;
  return listing(found?.verifications, {
    unavailable: html`<p class="notice problem" role="alert">Verifications are temporarily unavailable. None are lost, and you can still manage API keys and webhooks. Try again in a moment.</p>`,
    empty: nothing(options),
    list: (
      verifications,
    ) => html`${!vendors && html`<p class="notice warning">Vendor names are temporarily unavailable, so vendor IDs are shown instead.</p>`}
<table>
<thead><tr><th scope="col">Vendor</th><th scope="col">Result</th><th scope="col">Checks</th><th scope="col">Time</th></tr></thead>
<tbody>${verifications.map((each) => row(each, visit, vendors))}</tbody>
</table>
${pager({ path: `${visit.view.path}/verifications`, filter: list.filter, isFirst, next: found?.next })}`,
  });
}

function nothing({ visit: { view, may }, list, isFirst }: VerificationsView): Html | string {
  if (!isFirst) return "There are no older verifications.";
  if (list.isNarrowed) return "This vendor has not been verified yet.";
  if (!may("verify")) {
    return html`<p class="empty">No verifications yet.</p>${permissionHint(view, "verify", "run verifications")}`;
  }
  return html`<p class="empty">No verifications yet. Run one here, or call <code>POST /v1/verify</code>.</p>`;
}

function row(verification: Verification, { view, now }: Visit, vendors: Vendors | undefined): Html {
  const { id, entityId, results, createdAt } = verification;
  const name = vendors?.get(entityId)?.legalName;
  return html`<tr>
<th scope="row"><a href="${view.path}/verifications/${id}">${name ?? entityId}</a></th>
<td data-label="Result">${outcomeState(verification.overallResult)}</td>
<td data-label="Checks"><ul class="plain">${results.map((result) => checkItem(result, timestampDate(createdAt!)))}</ul></td>
<td data-label="Time">${timeAgo(createdAt, now)}</td>
</tr>
`;
}

function checkItem(result: Result, at: Date): Html {
  const { text } = verdictOf(checkOf(result.checkType), { result, at }, at);
  return html`<li>${checkTitle(result.checkType)}: <span class="hint">${text}</span></li>`;
}
