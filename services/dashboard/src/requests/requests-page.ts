import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { ListRequestsResponse, LoggedRequest } from "@vvs/proto/account/v1/request_log";
import { hint } from "../api-keys/api-keys-page.ts";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { inputField, option, selectField, VERBATIM } from "../ui/fields.ts";
import { filterBox } from "../ui/filter-box.ts";
import { pager } from "../ui/listing.ts";
import { copyableId, state, time } from "../ui/parts.ts";
import { numberText } from "../usage/usage-figures.ts";
import { durationText } from "../webhooks/attempts.ts";
import { TIME_INPUT } from "../webhooks/deliveries-page.ts";
import { errorCodes, outcomeKinds, type RequestFilter } from "./request-filter.ts";

interface RequestsView {
  readonly view: EnvironmentView;
  readonly list: RequestFilter;
  /** Of the environment; none while unavailable. */
  readonly keys: readonly ApiKey[];
  /** Undefined if the filter is invalid. */
  readonly found: ListRequestsResponse | undefined;
  readonly isFirst: boolean;
}

/** The sections of the dashboard with a page for an object, by the prefix of its id. */
const sections: Readonly<Record<string, string>> = {
  ent: "vendors",
  ver: "verifications",
  mon: "monitors",
  evd: "evidence",
};

export function requestsPage(options: RequestsView): Html {
  const { view, list, found } = options;
  return html`<h1>Requests</h1>
${filterForm(options)}
${
  found &&
  html`<section aria-labelledby="list">
<h2 id="list">${list.isNarrowed ? "Matching requests" : `${view.name} API requests`}</h2>
${leftOutNote(found, view)}
${requestList(options, found)}
<p class="hint">Shows requests with a valid API key, newest first, without their bodies and queries. Requests are kept for ${found.keptDays} days${view.environment === "sandbox" ? ", or for at least a day if there are very many" : ""}. Times are in UTC.</p>
</section>`
}`;
}

function filterForm({ view, list, keys, found }: RequestsView): Html {
  const { filter, problems } = list;
  const path = `${view.path}/requests`;
  const outcomeOptions = [
    option("", filter.outcome, "any"),
    ...Object.entries(outcomeKinds).map(([kind, name]) => option(kind, filter.outcome, name)),
    html`<optgroup label="Error code">${errorCodes.map(({ code, http }) => option(code, filter.outcome, `${http} ${code}`))}</optgroup>`,
  ];
  const keyNames = new Map(keys.map((key) => [key.id, `${key.name} (${hint(key)})`]));
  const operations = (found?.operations ?? []).map(({ method, route }) => `${method} ${route}`);
  const requestId = html` type="text" maxlength="128"${VERBATIM} placeholder="req_…"`;
  return filterBox({
    path,
    label: "Filter requests",
    list: list,
    fields: html`${inputField({ name: "request_id", label: "Request ID", attributes: requestId, value: filter.request_id, problem: problems.request_id })}
    ${selectField({ name: "outcome", label: "Outcome", options: outcomeOptions, problem: problems.outcome })}
    ${selectField({ name: "operation", label: "Method and route", options: choices(operations.toSorted(), filter.operation, readable), problem: problems.operation })}
    ${selectField({ name: "key", label: "API key", options: choices([...keyNames.keys()], filter.key, (id) => keyNames.get(id) ?? id), problem: problems.key })}
    ${inputField({ name: "from", label: "From (UTC)", attributes: TIME_INPUT, value: filter.from, problem: problems.from })}
    ${inputField({ name: "to", label: "Before (UTC)", attributes: TIME_INPUT, value: filter.to, problem: problems.to })}`,
  });
}

/** Returns options for "any" and for each value, also for the selected one if it is not among them. */
function choices(values: readonly string[], selected: string, name: (value: string) => string): Html[] {
  const all = selected === "" || values.includes(selected) ? values : [...values, selected];
  return [option("", selected, "any"), ...all.map((value) => option(value, selected, name(value)))];
}

/** Returns a route or a path as the documentation of the API writes it. */
const readable = (path: string) => path.replace(/:(\w+)/g, "{$1}");

function leftOutNote({ leftOut, burst, perMinute }: ListRequestsResponse, { path }: EnvironmentView): Html | undefined {
  if (leftOut === 0n) return undefined;
  const [count, verb] = leftOut === 1n ? ["1 request", "is"] : [`${numberText(Number(leftOut))} requests`, "are"];
  return html`<p><strong>${count}</strong> of this period ${verb} not in the log. It takes up to ${numberText(burst)} requests at any speed and then ${numberText(perMinute)} per minute, errors first. <a href="${path}/usage">Usage</a> counts all requests.</p>`;
}

function requestList(options: RequestsView, { requests, next, keptDays }: ListRequestsResponse): Html {
  const { view, list, keys, isFirst } = options;
  if (requests.length > 0) {
    return html`<table class="requests">
<thead><tr><th scope="col">Request</th><th scope="col">Outcome</th><th scope="col" class="number">Duration</th><th scope="col">API key</th><th scope="col">Request ID</th><th scope="col">Time</th></tr></thead>
<tbody>${requests.map((request) => row(request, view, keys))}</tbody>
</table>
${pager({ path: `${view.path}/requests`, filter: list.filter, isFirst, next })}`;
  }
  if (!isFirst) return html`<p class="empty">There are no older requests.</p>`;
  if (list.isNarrowed) {
    return html`<p class="empty">No requests match. A request appears here about five seconds after its answer.</p>`;
  }
  return html`<p class="empty">No API requests in the ${view.name} environment in the last ${keptDays} days. <a href="${view.path}/api-keys">Create an API key</a> and make your first call. It appears here about five seconds later.</p>`;
}

function row(request: LoggedRequest, view: EnvironmentView, keys: readonly ApiKey[]): Html {
  const { operation, durationMs, apiKeyId, requestId, at } = request;
  return html`<tr>
<th scope="row"><code class="url">${operation?.method} ${pathOf(request, view)}</code></th>
<td data-label="Outcome">${outcomeOf(request)}</td>
<td data-label="Duration" class="number">${durationText(durationMs)}</td>
<td data-label="API key">${keys.find(({ id }) => id === apiKeyId)?.name ?? html`<code>${apiKeyId}</code>`}</td>
<td data-label="Request ID">${copyableId(requestId)}</td>
<td data-label="Time">${time(at, "second")}</td>
</tr>
`;
}

/** Renders the path of a request; an id in it leads to the page of its object. */
function pathOf({ operation, objectId }: LoggedRequest, view: EnvironmentView): Html | string {
  const route = operation?.route ?? "";
  const section = sections[objectId.slice(0, 3)];
  if (!section) return readable(route);
  const [before, after] = route.split(":id");
  return html`${before}<a href="${view.path}/${section}/${objectId}">${objectId}</a>${after}`;
}

function outcomeOf({ status, error }: LoggedRequest): Html {
  if (status === 0) return state("pending", "no answer");
  const kind = status < 400 ? "pass" : status < 500 ? "error" : "failed";
  return html`${state(kind, String(status))}${error && html` <code>${error}</code>`}`;
}
