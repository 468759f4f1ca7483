import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Attempt, Delivery, Replay } from "@vvs/proto/webhook/v1/webhook";
import { pathId, pathWithQuery } from "../http/form.ts";
import { FormUsedError } from "../http/form-token.ts";
import { type Html, html } from "../http/html.ts";
import { permissionHint } from "../http/roles.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { actorView } from "../ui/actor.ts";
import { changeList } from "../ui/change-list.ts";
import { indentJson } from "../ui/indent-json.ts";
import {
  card,
  copyable,
  copyableId,
  facts,
  formTokenField,
  noticeOf,
  problemNotice,
  section,
  state,
  time,
  until,
} from "../ui/parts.ts";
import { counted, durationText } from "../ui/vocabulary.ts";
import { ofDeliveries } from "./delivery-list.ts";
import { deliveryState, outcomeText } from "./endpoints-page.ts";

const notices = {
  replayed: "The delivery starts again. Its next attempt is made immediately.",
  under_way: problemNotice(
    "The delivery was not replayed, because an attempt is in progress or an earlier event of the monitor must be delivered first. Try again in a moment.",
  ),
  no_webhook_url: problemNotice(
    "The delivery was not replayed, because the monitor no longer has a webhook URL. Set one, then replay the delivery.",
  ),
  sent_before: problemNotice("This form was already sent, so the delivery was not replayed again."),
};

export function createDeliveryHandlers(context: PageContext) {
  const { deliveries, readVendors, layout } = context;
  return {
    async view(request, response, visit) {
      const found = { caller: visit.caller, deliveryId: pathId(request, "delivery_id", "dlv") };
      const delivery = (await deliveries.getDelivery(found)).delivery!;
      const vendor = (await readVendors(visit, [delivery]))?.get(delivery.entityId);
      const content = html`${delivery.status === "pending" && waiting(visit, delivery)}
${card("about", "About this delivery", "unseen")`${about(visit, delivery, vendor)}
${visit.may("manage_webhooks") ? replayForm(visit, delivery) : permissionHint(visit.view, "manage_webhooks", "replay deliveries")}`}
${section("attempts", counted(delivery.attempts.length, "attempt"))`${attempts(visit, delivery)}`}
${section("changes", "Changes in this event")`<div class="card">${changeList(delivery.changes)}</div>`}
${signatures(delivery)}`;
      layout.sendPage(response, {
        ...{ visit, title: "Delivery", parents: ofDeliveries, notice: noticeOf(request, notices), content },
        heading: delivery.test ? "Test event" : vendor?.legalName,
        beside: html`${deliveryState(delivery)}${delivery.test && html` ${state("test")}`}`,
      });
    },

    async replay(request, response, visit) {
      const deliveryId = pathId(request, "delivery_id", "dlv");
      const redirect = (done: keyof typeof notices) =>
        response.redirect(303, `${visit.view.path}/webhooks/deliveries/${deliveryId}?done=${done}`);
      try {
        const { replayed } = await visit.forms.once(() =>
          deliveries.replayDelivery({ caller: visit.caller, deliveryId }),
        );
        redirect(replayed ? "replayed" : "under_way");
      } catch (error) {
        if (error instanceof FormUsedError) return redirect("sent_before");
        if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
        redirect("no_webhook_url");
      }
    },
  } satisfies PageHandlers;
}

function waiting({ view, now }: Visit, delivery: Delivery): Html {
  const again = html`<a href="${view.path}/webhooks/deliveries/${delivery.id}">Refresh</a>`;
  if (delivery.underWay) {
    return html`<p class="notice warning" role="status">An attempt is in progress. ${again}</p>`;
  }
  if (!delivery.nextAttemptAt) {
    return html`<p class="notice warning" role="status">This delivery waits for the first attempt of an earlier event of the same monitor. ${again}</p>`;
  }
  return html`<p class="notice warning" role="status">The next attempt is ${until(timestampDate(delivery.nextAttemptAt), now)}. While the endpoint fails, it can be up to five minutes later. ${again}</p>`;
}

/** `vendor` is undefined while unavailable, and for test events. */
function about({ view }: Visit, delivery: Delivery, vendor: Entity | undefined): Html {
  const { test, monitorId, entityId, verificationId } = delivery;
  const only = (filter: Record<string, string>) => pathWithQuery(`${view.path}/webhooks/deliveries`, filter);
  return facts([
    ["Delivery ID", copyableId(delivery.id)],
    [
      "Event ID",
      html`${copyableId(delivery.eventId)} <span class="hint">sent as the header <code>webhook-id</code></span>`,
    ],
    [
      "Webhook URL",
      html`<code class="url">${delivery.webhookUrl}</code> <a href="${only({ url: delivery.webhookUrl })}">View all deliveries to this URL</a>`,
    ],
    [
      "Monitor",
      test
        ? html`<span class="hint">none, because this is a test event</span>`
        : html`<a href="${view.path}/monitors/${monitorId}"><code>${monitorId}</code></a> · <a href="${only({ monitor_id: monitorId })}">View all deliveries of this monitor</a>`,
    ],
    [
      "Vendor",
      !test &&
        html`<a href="${view.path}/vendors/${entityId}">${vendor ? vendor.legalName : html`<code>${entityId}</code>`}</a> · <a href="${view.path}/verifications/${verificationId}">View the verification</a>`,
    ],
    ["Your vendor number", delivery.externalId && copyableId(delivery.externalId)],
    ["Change detected", !test && time(delivery.detectedAt, "second")],
    ["Created", time(delivery.createdAt, "second")],
    ["Ended", FAILURES[delivery.failure] ?? false],
  ]);
}

/** Why deliveries ended without a further attempt. */
const FAILURES: Readonly<Record<string, string>> = {
  no_webhook_url: "The monitor’s webhook URL was removed, so no more attempts are made.",
  sandbox_limit:
    "Your sandbox had too many events in this hour, so it was not sent. The event is in the monitor’s history. You can replay it.",
};

function replayForm(visit: Visit, delivery: Delivery): Html {
  const isDelivered = delivery.status === "delivered";
  const name = delivery.status === "pending" ? "Try now" : isDelivered ? "Deliver again" : "Replay";
  const explanation = delivery.test
    ? "Sends the event once more, with the same IDs."
    : "The next attempt is made immediately, with the same event ID, and retried for 24 hours.";
  return html`<form method="post" action="${visit.view.path}/webhooks/deliveries/${delivery.id}/replay" class="row">
  ${formTokenField(visit)}
  <button${isDelivered && html` class="quiet"`}>${name}</button>
  <span class="hint">${explanation}${isDelivered && " It was already delivered. A receiver that remembers event IDs ignores the repetition."}</span>
</form>`;
}

/** Renders attempts and replays in the order of time. */
function attempts({ session }: Visit, delivery: Delivery): Html {
  if (delivery.attempts.length === 0) return html`<p class="empty">No attempts yet.</p>`;
  const items = [
    ...delivery.attempts.map((attempt) => ({ at: timestampMs(attempt.startedAt!), item: attemptItem(attempt) })),
    ...delivery.replays.map((replay) => ({ at: timestampMs(replay.at!), item: replayItem(replay, session) })),
  ];
  return html`<ol class="cards attempts">${items.toSorted((a, b) => a.at - b.at).map(({ item }) => item)}</ol>`;
}

function replayItem({ at, actor }: Replay, session: Visit["session"]): Html {
  const { kind, name, id } = actorView(actor, { session, keys: [] });
  return html`<li class="replayed">Replayed by ${name || (kind === "unknown" ? "" : kind)} <code>${id}</code>, ${time(at, "second")}</li>
`;
}

function attemptItem(attempt: Attempt): Html {
  const isDelivered = attempt.error === "";
  return html`<li class="card">
<div class="heading"><h3>Attempt ${attempt.number}</h3> ${state(isDelivered ? "delivered" : "failed")}</div>
${facts([
  ["Started", time(attempt.startedAt, "second")],
  ["Duration", durationText(Number(attempt.durationMs))],
  ["Outcome", outcomeText(attempt)],
])}
${
  attempt.answerExcerpt
    ? html`<h4 id="answer-${attempt.number}">Beginning of the answer</h4>
<pre tabindex="0" aria-labelledby="answer-${attempt.number}" class="answer"><code>${attempt.answerExcerpt}</code></pre>`
    : html`<p class="hint">${attempt.statusCode ? "The answer had no body." : "There was no answer."}</p>`
}
${sent(attempt)}
</li>
`;
}

/** Renders the JSON and the headers that an attempt sent. */
function sent({ number, body, headers }: Attempt): Html {
  return html`<details><summary>What was sent</summary>
<h4>Body</h4>
${copyable(`body-${number}`, `The body of attempt ${number}`, indentJson(body) ?? body)}
<h4>Headers</h4>
${
  headers.length > 0
    ? copyable(
        `headers-${number}`,
        `The headers of attempt ${number}`,
        headers.map(({ name, value }) => `${name}: ${value}`).join("\n"),
      )
    : html`<p class="hint">The headers of this attempt were not kept.</p>`
}
</details>`;
}

/** Renders which headers sign a delivery, and which header marks test events. */
function signatures({ test, eventId }: Delivery): Html {
  return card("signed", "How each attempt is signed")`
<p>Each attempt carries two new signatures, made with the signing secret of this environment. Verifying one of them is enough. The signed body is the JSON on one line, without the spaces shown above.</p>
${facts([
  [
    "Standard Webhooks",
    html`<code>webhook-signature</code> <span class="hint">over <code>webhook-id</code> (<code>${eventId}</code>), <code>webhook-timestamp</code> and the body</span>`,
  ],
  [
    "Stripe format",
    html`<code>X-Service-Signature</code> <span class="hint">over its <code>t</code> and the body; Stripe’s libraries can verify it</span>`,
  ],
  ["Attempt number", html`<code>X-Delivery-Attempt</code>`],
  ["Test event", test && html`<code>X-Delivery-Test: true</code>`],
])}`;
}
