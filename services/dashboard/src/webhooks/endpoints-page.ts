import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Attempt, Delivery, Endpoint } from "@vvs/proto/webhook/v1/webhook";
import type { EnvironmentView } from "../http/environments.ts";
import { pathWithQuery } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { Endpoints } from "../page/panels.ts";
import { localTime } from "../ui/filter.ts";
import { breakable, facts, section, state, timeAgo } from "../ui/parts.ts";
import { counted, hostOf } from "../ui/vocabulary.ts";

const MINUTE_MS = 60_000;

/** Renders the warning shown on every page while an endpoint has failed for a day or answers 410 Gone. */
export function endpointsAlert(
  { view, may, now }: Pick<Visit, "view" | "may" | "now">,
  flagged: Endpoints | undefined,
): Html | undefined {
  const [first] = flagged?.endpoints ?? [];
  if (!first) return undefined;
  const others = flagged!.flaggedCount - 1;
  return html`<aside class="alert" aria-label="Failing webhooks"><p><strong>Webhooks to <code class="url">${hostOf(first.webhookUrl)}</code> ${first.state === "gone" ? "are answered with 410 Gone" : html`began to fail ${timeAgo(first.failingSince, now)}`}${others > 0 && ` (and ${counted(others, "more endpoint")})`}.</strong> Each event is retried for 24 hours and kept, so that you can replay it. <a href="${view.path}/webhooks#endpoints">View webhook endpoints</a></p>${may("manage_webhooks") && dismissForm(view, first)}</aside>`;
}

/** Renders the webhook endpoints, failing ones first. `found` is undefined while unavailable. */
export function endpointsSection(visit: Visit, found: Endpoints | undefined): Html {
  return section("endpoints", "Webhook endpoints")`
${found ? list(visit, found) : html`<p class="notice problem">The state of webhook endpoints is temporarily unavailable. Events are not lost. Try again in a moment.</p>`}`;
}

function list(visit: Visit, { endpoints, hasMore }: Endpoints): Html {
  if (endpoints.length === 0) {
    return html`<p class="empty">No webhook endpoints yet. Each URL that receives events appears here with its state.</p>`;
  }
  return html`<ul class="cards">${endpoints.map((each) => endpointItem(visit, each))}</ul>
${hasMore && html`<p class="hint">There are more webhook endpoints. The list shows those that have failed the longest or were used most recently.</p>`}`;
}

const meanings: Readonly<Record<string, string>> = {
  troubled: "The last attempts failed. Each event is retried for 24 hours.",
  failing:
    "This endpoint has failed for longer than events are retried, so some events were not delivered. New events are still attempted and arrive when the endpoint answers again. Failed events are kept, so that you can replay them.",
  gone: "The endpoint answered 410 Gone. Events are still attempted. If the endpoint no longer exists, cancel its monitors or set another URL.",
};

function endpointItem({ view, may, now }: Visit, endpoint: Endpoint): Html {
  const mayManage = may("manage_webhooks");
  const { webhookUrl: url, failingSince, lastFailureAt, goneAt } = endpoint;
  const path = `${view.path}/webhooks`;
  // The first failed event was created shortly before its attempt failed.
  const since = failingSince && localTime(new Date(timestampDate(failingSince).getTime() - MINUTE_MS));
  return html`<li class="card endpoint ${endpoint.state}">
<div class="heading"><h3><code class="url">${breakable(url)}</code></h3> ${state(endpoint.state)}${endpoint.dismissedAt && html` ${state("dismissed")}`}</div>
${meanings[endpoint.state] && html`<p>${meanings[endpoint.state]}</p>`}
${facts([
  [
    "Failing since",
    failingSince && html`${timeAgo(failingSince, now)} <span class="hint">${failures(endpoint)}</span>`,
  ],
  ["410 Gone", timeAgo(goneAt, now)],
  ["Last success", timeAgo(endpoint.lastSuccessAt, now) ?? "none yet"],
  [
    "Last failure",
    lastFailureAt &&
      html`${timeAgo(lastFailureAt, now)} <span class="hint">${outcomeText({ statusCode: endpoint.lastStatusCode, error: endpoint.lastError })}</span>`,
  ],
])}
<p class="actions"><a href="${pathWithQuery(`${path}/deliveries`, { url })}">View deliveries<span class="unseen"> to ${url}</span></a>${mayManage && html` <a href="${pathWithQuery(`${path}/test`, { url })}">Send a test event<span class="unseen"> to ${url}</span></a>`}${mayManage && since && html` <a href="${pathWithQuery(`${path}/replay`, { url, since })}">Replay failed deliveries<span class="unseen"> to ${url}</span></a>`}</p>
${mayManage && !endpoint.dismissedAt && html`<div class="row">${dismissForm(view, endpoint)} <span class="hint">Hides it until the next event${failingSince && ", and ends its warning until it answers and fails again"}. Events are still sent.</span></div>`}
</li>
`;
}

/** Renders the form that hides an endpoint which is no longer used. */
function dismissForm(view: EnvironmentView, { webhookUrl: url }: Endpoint): Html {
  return html`<form method="post" action="${view.path}/webhooks/endpoints/dismiss"><input type="hidden" name="url" value="${url}"><button class="quiet">Dismiss<span class="unseen"> ${url}</span></button></form>`;
}

function failures({ consecutiveFailures }: Endpoint): string {
  return counted(Number(consecutiveFailures), "failure", "failures in a row");
}

const reasons: Readonly<Record<string, string>> = {
  http_status: "the answer was not 2xx",
  timeout: "no complete answer within 15 s",
  connection: "the connection failed",
  tls: "a secure (TLS) connection could not be set up",
  address_refused: "the host resolves to a private address",
};

/** Returns the outcome of an attempt, such as `500: the answer was not 2xx`. */
export function outcomeText({ statusCode, error }: Pick<Attempt, "statusCode" | "error">): string {
  if (!error) return statusCode ? `${statusCode}: delivered` : "delivered";
  const reason = Object.hasOwn(reasons, error) ? reasons[error] : error;
  return [statusCode, statusCode === 410 ? "the endpoint is gone" : reason].filter(Boolean).join(": ");
}

/** Returns the outcome in one or two words: the status code, or why there was none. */
export function briefOutcome({ statusCode, error }: Pick<Attempt, "statusCode" | "error">): string {
  if (error === "" || error === "http_status") return String(statusCode);
  return error.replace("_", " ");
}

/** Renders the state of a delivery; one that waits after a failed attempt is retrying. */
export function deliveryState({ status, attempts }: Pick<Delivery, "status" | "attempts">): Html {
  const isRetrying = status === "pending" && !!attempts.at(-1)?.error;
  return state(isRetrying ? "retrying" : status);
}
