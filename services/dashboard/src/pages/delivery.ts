import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Attempt, DeliveredChange, Delivery, Replay } from "@vvs/proto/webhook/v1/webhook";
import type { ActorView } from "../actor.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { attemptCount, durationText, outcomeText } from "./attempts.ts";
import { facts, formTokenField, type Notice, noticeBox, state, time } from "./parts.ts";
import { whoMay } from "./who-may.ts";

export interface DeliveryView {
  readonly view: EnvironmentView;
  readonly mayReplay: boolean;
  readonly delivery: Delivery;
  /** Undefined where it can't be had at the moment, and for tests. */
  readonly vendor: Entity | undefined;
  readonly actorOf: (id: string) => ActorView;
  readonly formToken: string;
  readonly notice?: Notice;
}

export function deliveryPage(options: DeliveryView): Html {
  const { view, delivery, vendor } = options;
  const title = delivery.test ? "Test event" : (vendor?.legalName ?? "Delivery");
  return html`<p class="path"><a href="${view.path}/webhooks">Webhooks</a> / <a href="${view.path}/webhooks/deliveries">Deliveries</a></p>
<div class="heading"><h1>${title}</h1> ${state(delivery.status)}${delivery.test && html` ${state("test")}`}</div>
${noticeBox(options.notice)}
${delivery.status === "pending" && waiting(options)}
<section class="card" aria-labelledby="about">
<h2 id="about" class="unseen">About this delivery</h2>
${about(options)}
${options.mayReplay ? replayForm(options) : whoMay(view, "manage_webhooks", "replay deliveries")}
</section>
<section aria-labelledby="attempts">
<h2 id="attempts">${attemptCount(delivery.attempts.length)}</h2>
${attempts(options)}
</section>
<section aria-labelledby="told">
<h2 id="told">What the subscriber is told</h2>
${changeTable(delivery.changes)}
</section>
${signatures(delivery)}`;
}

function waiting({ view, delivery }: DeliveryView): Html {
  const again = html`<a href="${view.path}/webhooks/deliveries/${delivery.id}">Look again</a>`;
  if (delivery.underWay) {
    return html`<p class="notice warning" role="status">An attempt is being made at this moment. ${again}</p>`;
  }
  if (!delivery.nextAttemptAt) {
    return html`<p class="notice warning" role="status">It waits for the first attempt of an earlier event of its monitor. ${again}</p>`;
  }
  return html`<p class="notice warning" role="status">The next attempt is made at ${time(delivery.nextAttemptAt, "second")}, or within five minutes after it while the endpoint fails. ${again}</p>`;
}

function about({ view, delivery, vendor }: DeliveryView): Html {
  const { test, monitorId, entityId, verificationId } = delivery;
  const only = (filter: Record<string, string>) =>
    `${view.path}/webhooks/deliveries?${new URLSearchParams(filter).toString()}`;
  return facts([
    ["Delivery", html`<code>${delivery.id}</code>`],
    ["Event", html`<code>${delivery.eventId}</code> <span class="hint">its <code>webhook-id</code></span>`],
    [
      "URL",
      html`<code class="url">${delivery.webhookUrl}</code> <a href="${only({ url: delivery.webhookUrl })}">All to this URL</a>`,
    ],
    [
      "Monitor",
      test
        ? html`<span class="hint">none: this event was made up</span>`
        : html`<a href="${view.path}/monitors/${monitorId}"><code>${monitorId}</code></a> <a href="${only({ monitor_id: monitorId })}">All of this monitor</a>`,
    ],
    [
      "Vendor",
      !test &&
        html`<a href="${view.path}/entities/${entityId}">${vendor ? vendor.legalName : html`<code>${entityId}</code>`}</a> · <a href="${view.path}/verifications/${verificationId}">The verification</a>`,
    ],
    ["Detected", !test && time(delivery.detectedAt, "second")],
    ["Accepted", time(delivery.createdAt, "second")],
  ]);
}

function replayForm({ view, delivery, formToken }: DeliveryView): Html {
  const isDelivered = delivery.status === "delivered";
  const name = delivery.status === "pending" ? "Try now" : isDelivered ? "Deliver again" : "Replay";
  const explanation = delivery.test
    ? "Sends it once more, with the same ids."
    : "Its next attempt is made at once, with the same event id, and retries go on for 24 hours from then.";
  return html`<form method="post" action="${view.path}/webhooks/deliveries/${delivery.id}/replay" class="row">
  ${formTokenField(formToken)}
  <button${isDelivered && html` class="quiet"`}>${name}</button>
  <span class="hint">${explanation}${isDelivered && " It was delivered: a subscriber that knows the event’s id does nothing twice."}</span>
</form>`;
}

/** Attempts and what people did between them, as they came. */
function attempts({ delivery, actorOf }: DeliveryView): Html {
  if (delivery.attempts.length === 0) return html`<p class="empty">None was made yet.</p>`;
  const replays = delivery.replays.map((replay) => ({ at: replay.at!, item: replayItem(replay, actorOf) }));
  const made = delivery.attempts.map((attempt) => ({ at: attempt.startedAt!, item: attemptItem(attempt) }));
  const inOrder = [...made, ...replays].sort((a, b) => timestampDate(a.at).getTime() - timestampDate(b.at).getTime());
  return html`<ol class="cards attempts">${inOrder.map(({ item }) => item)}</ol>`;
}

function replayItem({ at, actor }: Replay, actorOf: DeliveryView["actorOf"]): Html {
  const { kind, name, id } = actorOf(actor);
  return html`<li class="replayed">Begun again by ${name || (kind === "unknown" ? "" : kind)} <code>${id}</code>, ${time(at, "second")}</li>
`;
}

function attemptItem(attempt: Attempt): Html {
  const isDelivered = attempt.error === "";
  return html`<li class="card">
<div class="heading"><h3>Attempt ${attempt.number}</h3> ${state(isDelivered ? "delivered" : "failed")}</div>
${facts([
  ["Began", time(attempt.startedAt, "second")],
  ["Took", durationText(attempt.durationMs)],
  ["Outcome", html`${outcomeText(attempt)}${attempt.error && html` <code>${attempt.error}</code>`}`],
])}
${
  attempt.answerExcerpt
    ? html`<h4 id="answer-${attempt.number}">First bytes of the answer</h4>
<pre tabindex="0" aria-labelledby="answer-${attempt.number}" class="answer"><code>${attempt.answerExcerpt}</code></pre>`
    : html`<p class="hint">${attempt.statusCode ? "The answer had no body." : "There was no answer."}</p>`
}
</li>
`;
}

function changeTable(changes: readonly DeliveredChange[]): Html {
  return html`<table>
<thead><tr><th scope="col">Field</th><th scope="col">Was</th><th scope="col">Is</th></tr></thead>
<tbody>${changes.map(
    ({ field, previous, current }) => html`<tr>
<th scope="row"><code>${field}</code></th>
<td data-label="Was">${valueText(previous)}</td>
<td data-label="Is">${valueText(current)}</td>
</tr>
`,
  )}</tbody>
</table>`;
}

function valueText(value: string | undefined): Html {
  return value === undefined ? html`<span class="hint">nothing</span>` : html`${value}`;
}

/** Which headers prove where it came from, and by which of them tests are known. */
function signatures({ test, eventId }: Delivery): Html {
  return html`<section class="card" aria-labelledby="signed">
<h2 id="signed">How each attempt is signed</h2>
<p>Either signature is proof enough. Both are made anew for each attempt, with the signing secret of this environment.</p>
${facts([
  [
    "Standard Webhooks",
    html`<code>webhook-signature</code> <span class="hint">over <code>webhook-id</code> (<code>${eventId}</code>), <code>webhook-timestamp</code> and the body</span>`,
  ],
  [
    "As Stripe’s",
    html`<code>X-Service-Signature</code> <span class="hint">over its <code>t</code> and the body; Stripe’s libraries verify it as it is</span>`,
  ],
  ["Which attempt", html`<code>X-Delivery-Attempt</code>`],
  ["A test", test && html`<code>X-Delivery-Test: true</code>`],
])}
</section>`;
}
