import { catalogue } from "@vvs/errors";
import { containsTin } from "@vvs/identifiers";
import { isId } from "@vvs/ids";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { ListRequestsResponse, LoggedRequest } from "@vvs/proto/account/v1/request_log";
import type { EnvironmentView } from "../http/environments.ts";
import { type Html, html } from "../http/html.ts";
import { byTime, listPage } from "../page/list-page.ts";
import type { PageContext } from "../page/page-context.ts";
import { keyHint, readKeys } from "../page/panels.ts";
import { VERBATIM } from "../ui/fields.ts";
import { choiceField, offeredField, periodFields, typedField, utcTime } from "../ui/filter.ts";
import { copyableId, state, time } from "../ui/parts.ts";
import { counted, durationText, numberText } from "../ui/vocabulary.ts";

/** Without a valid key or a known route a request belongs to no organization, so no log has it. */
const NEVER_LOGGED = ["unauthorized", "not_found", "method_not_allowed"];

const errorCodes = Object.entries(catalogue).filter(([code]) => !NEVER_LOGGED.includes(code));

interface Offered {
  /** Of the environment; none while unavailable. */
  readonly keys: readonly ApiKey[];
  /** The methods and routes of the log. */
  readonly operations: readonly string[];
}

const fields = {
  request_id: typedField("Request ID", {
    accepts: (text) => /^[\x20-\x7e]{1,128}$/.test(text) && !containsTin(text),
    problem: "Enter the whole request ID, as in the X-Request-Id header of the answer.",
    attributes: html` type="text" maxlength="128"${VERBATIM} placeholder="req_…"`,
  }),
  outcome: choiceField(
    "Outcome",
    {
      "": "any",
      "2xx": "2xx: success",
      "4xx": "4xx: refused",
      "5xx": "5xx: failed on our side",
      no_answer: "no answer: the client hung up",
      "Error code": Object.fromEntries(errorCodes.map(([code, { http }]) => [code, `${http} ${code}`])),
    },
    { problem: "Choose one of the listed outcomes." },
  ),
  operation: offeredField("Method and route", {
    accepts: (text) => /^[A-Z]{3,7} \/v1\/[\w/:]{1,100}$/.test(text),
    problem: "Choose one of the listed methods and routes.",
    offer: ({ operations }: Offered, chosen) => ({
      "": "any",
      ...Object.fromEntries([...new Set([...operations, chosen])].map((each) => [each, readable(each) || "any"])),
    }),
  }),
  key: offeredField("API key", {
    accepts: (text) => isId("key", text),
    problem: "Choose one of the listed API keys.",
    offer: ({ keys }: Offered) => ({
      "": "any",
      ...Object.fromEntries(keys.map((key) => [key.id, `${key.name} (${keyHint(key)})`])),
    }),
  }),
  ...periodFields,
};

/** The sections of the dashboard with a page for an object, by the prefix of its id. */
const sections: Readonly<Record<string, string>> = {
  ent: "vendors",
  ver: "verifications",
  mon: "monitors",
  evd: "evidence",
  job: "lists",
};

/** Creates the request log: the API calls of the last days, one by one. */
export const createRequestList = (context: PageContext) =>
  listPage(context, {
    path: "/requests",
    noun: "requests",
    fields,
    positions: byTime("log"),
    limit: 50,
    async read({ caller }, { outcome, key, operation, request_id, from, to }, page) {
      const [method = "", route = ""] = operation.split(" ");
      const found = await context.requestLog.listRequests({
        ...{ caller, outcome, apiKeyId: key, requestId: request_id, page },
        ...{ operation: operation ? { method, route } : undefined, from: utcTime(from), to: utcTime(to) },
      });
      return { ...found, rows: found.requests };
    },
    readChoices: async (visit, found) => ({
      keys: await readKeys(context, visit),
      operations: (found?.operations ?? []).map(({ method, route }) => `${method} ${route}`).toSorted(),
    }),
    columns: ({ visit: { view }, choices: { keys } }) => [
      ["Request", (request) => html`<code>${request.operation?.method} ${pathOf(request, view)}</code>`, "long"],
      ["Outcome", (request) => outcomeOf(request)],
      ["Duration", ({ durationMs }) => durationText(Number(durationMs)), "number"],
      [
        "API key",
        ({ apiKeyId }) => keys.find(({ id }) => id === apiKeyId)?.name ?? html`<code>${apiKeyId}</code>`,
        "short",
      ],
      ["Request ID", ({ requestId }) => copyableId(requestId), "long"],
      ["Time", ({ at }) => time(at, "second")],
    ],
    heading: ({ view }, { isNarrowed }) => (isNarrowed ? "Matching requests" : `${view.name} API requests`),
    above: (found, { view }) => leftOutNote(found, view),
    below: ({ keptDays }, { view }) =>
      html`<p class="hint">Shows requests with a valid API key, newest first, without their bodies and queries. Requests are kept for ${keptDays} days${view.environment === "sandbox" ? ", or for at least a day if there are very many" : ""}. Times are in UTC.</p>`,
    noMatch: "No requests match. A request appears here about five seconds after its answer.",
    empty: ({ view }, { keptDays }) =>
      html`<p class="empty">No API requests in the ${view.name} environment in the last ${keptDays} days. <a href="${view.path}/api-keys">Create an API key</a> and make your first call. It appears here about five seconds later.</p>`,
  });

/** Returns a route as the documentation of the API writes it. */
const readable = (route: string) => route.replace(/:(\w+)/g, "{$1}");

function leftOutNote({ leftOut, burst, perMinute }: ListRequestsResponse, view: EnvironmentView) {
  if (leftOut === 0n) return undefined;
  const count = counted(Number(leftOut), "request");
  return html`<p><strong>${count}</strong> of this period ${leftOut === 1n ? "is" : "are"} not in the log. It takes up to ${numberText(burst)} requests at any speed and then ${numberText(perMinute)} per minute, errors first. <a href="${view.path}/usage">Usage</a> counts all requests.</p>`;
}

/** Renders the path of a request; an id in it leads to the page of its object. */
function pathOf({ operation, objectId }: LoggedRequest, view: EnvironmentView): Html | string {
  const route = operation?.route ?? "";
  if (objectId === "") return readable(route);
  const section = sections[objectId.slice(0, 3)];
  const [before, after] = route.split(":id");
  return html`${before}${section ? html`<a href="${view.path}/${section}/${objectId}">${objectId}</a>` : objectId}${after}`;
}

function outcomeOf({ status, error }: LoggedRequest): Html {
  if (status === 0) return state("pending", "no answer");
  const kind = status < 400 ? "pass" : status < 500 ? "error" : "failed";
  return html`${state(kind, String(status))}${error && html` <code>${error}</code>`}`;
}
