import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Endpoint } from "@vvs/proto/webhook/v1/webhook";
import { localTime } from "../delivery-filter.ts";
import type { Endpoints } from "../endpoints.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { outcomeText } from "./attempts.ts";
import { facts, state, time } from "./parts.ts";

const MINUTE_MS = 60_000;

/** Told on every page while an endpoint has failed for a day, or said that nobody listens there any more. */
export function endpointsAlert(view: EnvironmentView, flagged: Endpoints | undefined): Html | undefined {
  const [first] = flagged?.endpoints ?? [];
  if (!first) return undefined;
  const others = flagged!.flaggedCount - 1;
  return html`<aside class="alert" aria-label="Failing webhooks"><p><strong>Webhooks to <code class="url">${hostOf(first)}</code> ${first.state === "gone" ? "are answered with 410 Gone" : html`have failed since ${time(first.failingSince)}`}${others > 0 && ` (and ${others} more ${others === 1 ? "endpoint" : "endpoints"})`}.</strong> Events are retried for 24 hours each, and kept for you to replay. <a href="${view.path}/webhooks#endpoints">Look at the endpoints</a></p></aside>`;
}

/** The URLs that deliveries went to, those that fail first; undefined where they can't be had at the moment. */
export function endpointsSection(view: EnvironmentView, found: Endpoints | undefined, mayManage: boolean): Html {
  return html`<section aria-labelledby="endpoints">
<h2 id="endpoints">Endpoints</h2>
${found ? list(view, found, mayManage) : html`<p class="notice problem">How endpoints answer can’t be shown at the moment. Deliveries go on being made; try again in a moment.</p>`}
</section>`;
}

function list(view: EnvironmentView, { endpoints, hasMore }: Endpoints, mayManage: boolean): Html {
  if (endpoints.length === 0) {
    return html`<p class="empty">Nothing was sent anywhere yet. Each URL that a monitor’s events go to appears here, with how it answers.</p>`;
  }
  return html`<ul class="cards">${endpoints.map((each) => endpointItem(view, each, mayManage))}</ul>
${hasMore && html`<p class="hint">There are more. These are the ones that fail for longest, or were used last.</p>`}`;
}

const meanings: Readonly<Record<string, string>> = {
  troubled: "Its last attempts failed. Each event is retried for 24 hours.",
  failing:
    "It has failed for longer than an event is retried, so events failed for good. New ones are still attempted, and arrive by themselves once it answers again; those that failed are kept for you to replay.",
  gone: "It said 410: nobody listens there any more. Events are still attempted. If nobody is meant to listen, cancel its monitors, or give them another URL.",
};

function endpointItem(view: EnvironmentView, endpoint: Endpoint, mayManage: boolean): Html {
  const { webhookUrl: url, failingSince, lastFailureAt, goneAt } = endpoint;
  const path = `${view.path}/webhooks`;
  const query = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
  // The first event that failed was accepted before its attempt did.
  const since = failingSince && localTime(new Date(timestampDate(failingSince).getTime() - MINUTE_MS));
  return html`<li class="card endpoint ${endpoint.state}">
<div class="heading"><h3><code class="url">${url}</code></h3> ${state(endpoint.state)}</div>
${meanings[endpoint.state] && html`<p>${meanings[endpoint.state]}</p>`}
${facts([
  ["Failing since", failingSince && html`${time(failingSince)} <span class="hint">${failures(endpoint)}</span>`],
  ["410 Gone", goneAt && time(goneAt)],
  ["Last success", time(endpoint.lastSuccessAt) ?? "none yet"],
  [
    "Last failure",
    lastFailureAt &&
      html`${time(lastFailureAt)} <span class="hint">${outcomeText({ statusCode: endpoint.lastStatusCode, error: endpoint.lastError })}</span>`,
  ],
])}
<p class="actions"><a href="${path}/deliveries?${query({ url })}">Deliveries<span class="unseen"> to ${url}</span></a>${mayManage && html` <a href="${path}/test?${query({ url })}">Send a test event<span class="unseen"> to ${url}</span></a>`}${mayManage && since && html` <a href="${path}/replay?${query({ url, since })}">Replay what failed<span class="unseen"> to ${url}</span></a>`}</p>
</li>
`;
}

function failures({ consecutiveFailures }: Endpoint): string {
  return consecutiveFailures === 1n
    ? "1 failure"
    : `${Number(consecutiveFailures).toLocaleString("en-US")} failures in a row`;
}

function hostOf({ webhookUrl }: Endpoint): string {
  return URL.canParse(webhookUrl) ? new URL(webhookUrl).host : webhookUrl;
}
