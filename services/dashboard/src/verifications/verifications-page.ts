import type { ListVerificationsResponse, Result, Verification } from "@vvs/proto/verification/v1/verification";
import type { Vendors } from "../entities/vendors.ts";
import { type Html, html } from "../http/html.ts";
import { checkName, statusName } from "../ui/checks.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { writePosition } from "../ui/list-position.ts";
import { state, time } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";

export interface VerificationsView {
  readonly view: EnvironmentView;
  readonly mayVerify: boolean;
  /** The entity to show; empty for all. */
  readonly entityId: string;
  /** The problem of the filter, if any. */
  readonly problem?: string;
  /** Undefined while unavailable. */
  readonly found: Pick<ListVerificationsResponse, "verifications" | "next"> | undefined;
  /** Undefined while unavailable. */
  readonly vendors: Vendors | undefined;
  readonly isFirst: boolean;
}

export function verificationsPage(options: VerificationsView): Html {
  const { view, mayVerify, found } = options;
  return html`<div class="heading"><h1>Verifications</h1>
${mayVerify && html`<p><a class="button" href="${view.path}/verifications/new">Run a verification</a></p>`}</div>
${filterForm(options)}
<section aria-labelledby="list">
<h2 id="list">${options.entityId ? "Verifications of this vendor" : `All ${view.name.toLowerCase()} verifications`}</h2>
${
  found
    ? list(options, found)
    : html`<p class="notice problem" role="alert">Verifications are temporarily unavailable. None are lost, and you can still manage API keys and webhooks. Try again in a moment.</p>`
}
</section>`;
}

function filterForm({ view, entityId, problem }: VerificationsView): Html {
  return html`<form method="get" action="${view.path}/verifications" class="filter" role="search">
  <label for="entity_id">Entity ID of the vendor</label>
  <div class="row">
    <input class="grow" id="entity_id" name="entity_id" maxlength="100" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="ent_…" value="${entityId}"${problem && html` aria-invalid="true" aria-describedby="entity-problem"`}>
    <button class="quiet">Filter</button>
    ${(entityId || problem) && html`<a href="${view.path}/verifications">Show all</a>`}
  </div>
  ${problem && html`<p class="field-problem" id="entity-problem">${problem}</p>`}
</form>`;
}

function list(options: VerificationsView, found: NonNullable<VerificationsView["found"]>): Html | undefined {
  const { view, vendors } = options;
  if (found.verifications.length === 0) return nothing(options);
  return html`${!vendors && html`<p class="notice warning">Vendor names are temporarily unavailable, so entity IDs are shown instead.</p>`}
<table>
<thead><tr><th scope="col">Vendor</th><th scope="col">Result</th><th scope="col">Checks</th><th scope="col">Time</th></tr></thead>
<tbody>${found.verifications.map((each) => row(each, view, vendors))}</tbody>
</table>
${pager(options, found.next)}`;
}

function nothing({ view, mayVerify, problem, entityId, isFirst }: VerificationsView): Html | undefined {
  if (problem) return undefined;
  if (!isFirst) return html`<p class="empty">There are no older verifications.</p>`;
  if (entityId) return html`<p class="empty">This vendor has not been verified yet.</p>`;
  if (!mayVerify) {
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

function pager({ view, entityId, isFirst }: VerificationsView, next: ListVerificationsResponse["next"]): Html {
  const path = (query: Record<string, string>) => {
    const search = new URLSearchParams({ ...(entityId && { entity_id: entityId }), ...query }).toString();
    return `${view.path}/verifications${search && `?${search}`}`;
  };
  return html`<nav class="pager" aria-label="Pages">
${!isFirst && html`<a class="button quiet" href="${path({})}">Newest</a>`}
${next && html`<a class="button quiet" href="${path({ after: writePosition(next) })}" rel="next">Older</a>`}
</nav>`;
}
