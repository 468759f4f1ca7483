import type { ListVerificationsResponse, Result, Verification } from "@vvs/proto/verification/v1/verification";
import type { ListFilter } from "../http/filter.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { checkName, statusName } from "../ui/checks.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { problemLine, VERBATIM } from "../ui/fields.ts";
import { listing, pager } from "../ui/listing.ts";
import { state, time } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";
import type { Vendors } from "../vendors/vendors.ts";

interface VerificationsView {
  readonly visit: Visit;
  readonly list: ListFilter<"entity_id">;
  /** Undefined while unavailable. */
  readonly found: ListVerificationsResponse | undefined;
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  readonly isFirst: boolean;
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
</section>`;
}

function filterForm(
  view: EnvironmentView,
  { filter, problems, isNarrowed, isRefused }: VerificationsView["list"],
): Html {
  return html`<form method="get" action="${view.path}/verifications" class="filter" role="search">
  <label for="entity_id">Vendor ID</label>
  <div class="row">
    <input class="grow" id="entity_id" name="entity_id" maxlength="100"${VERBATIM} placeholder="ent_…" value="${filter.entity_id}"${isRefused && html` aria-invalid="true" aria-describedby="entity_id-problem"`}>
    <button class="quiet">Filter</button>
    ${(isNarrowed || isRefused) && html`<a href="${view.path}/verifications">Show all</a>`}
  </div>
  ${problemLine("entity_id", problems.entity_id)}
</form>`;
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
<tbody>${verifications.map((each) => row(each, visit.view, vendors))}</tbody>
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

function row(verification: Verification, view: EnvironmentView, vendors: Vendors | undefined): Html {
  const { id, entityId, results } = verification;
  const name = vendors?.get(entityId)?.legalName;
  return html`<tr>
<th scope="row"><a href="${view.path}/verifications/${id}">${name ?? entityId}</a></th>
<td data-label="Result">${state(statusName(verification.overallResult))}</td>
<td data-label="Checks"><ul class="plain">${results.map(checkItem)}</ul></td>
<td data-label="Time">${time(verification.createdAt, "second")}</td>
</tr>
`;
}

function checkItem(result: Result): Html {
  const status = statusName(result.status);
  return html`<li><code>${checkName(result.checkType)}</code> <span class="hint">${[status, result.reason].filter(Boolean).join(": ")}</span></li>`;
}
