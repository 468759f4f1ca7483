import { setTimeout as wait } from "node:timers/promises";
import type { Delivery } from "@vvs/proto/webhook/v1/webhook";
import type { Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { html } from "../http/html.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { input, VERBATIM } from "../ui/fields.ts";
import { type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import { formTokenField } from "../ui/parts.ts";

/** How long to wait for the outcome: an attempt takes up to 15 s. Later outcomes appear on the delivery's page. */
const OUTCOME_WITHIN_MS = 18_000;
const LOOK_EVERY_MS = 200;
const SUGGESTED = 50;

const refusals: RefusalTexts = {
  sentBefore: "This form was already sent, so no other event was sent. Find the first one in the list of deliveries.",
  fields: { webhook_url: "webhook URL" },
};

export function createTestEventHandlers({ deliveries, readEndpoints, layout, logger }: PageContext) {
  /** Sends the form. A URL that can't be one is not shown again, because it may be a secret pasted by mistake. */
  async function sendForm(response: Response, visit: Visit, shown: Partial<Refusal> & { url: string }): Promise<void> {
    const known = (await readEndpoints(visit, { limit: SUGGESTED }))?.endpoints ?? [];
    const { status, notice } = shown;
    const value = URL.canParse(shown.url) ? shown.url : "";
    const { path, name, environment } = visit.view;
    const problem = shown.problems?.webhook_url;
    const attributes = html` class="wide" type="url" inputmode="url" list="known" required maxlength="2048"${VERBATIM} placeholder="https://…"${problem && html` autofocus`}`;
    const hint = `${known.length > 0 ? "Choose a URL that was used before, or enter another one." : "Enter the URL of your webhook endpoint."}${environment === "live" ? " It must begin with https://." : ""}`;
    const content = html`<p>A test event is a <code>monitor.change_detected</code> event with made-up changes. It is signed with the ${name.toLowerCase()} signing secret and says <code>"test": true</code> in its body, which is signed. It is attempted once and belongs to no monitor.</p>
<form method="post" action="${path}/webhooks/test" class="card" data-busy="Waiting for the answer of your endpoint …">
  ${formTokenField(visit)}
  ${input({ name: "url", label: "Webhook URL", attributes, value, hint, problem: problem && `${problem} Nothing was sent.` })}
  <datalist id="known">${known.map(({ webhookUrl }) => html`<option value="${webhookUrl}"></option>`)}</datalist>
  <p class="choices"><button>Send test event</button> <span class="hint">The next page shows how your endpoint answered. This takes up to 15 seconds.</span></p>
</form>`;
    const parents = [["/webhooks", "Webhooks"]] as const;
    layout.sendPage(response, { visit, title: "Send a test event", parents, status, notice, content });
  }

  /** Waits until the only attempt has ended, or until the maximum wait is over. */
  async function outcome({ caller }: Visit, { id: deliveryId }: Delivery): Promise<void> {
    const end = performance.now() + OUTCOME_WITHIN_MS;
    while (performance.now() < end) {
      const { delivery } = await deliveries.getDelivery({ caller, deliveryId });
      if (delivery!.status !== "pending") return;
      await wait(LOOK_EVERY_MS);
    }
  }

  return {
    ask: (request, response, visit) => sendForm(response, visit, { url: queryValue(request, "url") }),

    async send(request, response, visit) {
      const url = field(request, "url").trim();
      try {
        const { delivery } = await visit.forms.once(() =>
          deliveries.sendTestEvent({ caller: visit.caller, webhookUrl: url }),
        );
        await outcome(visit, delivery!).catch((err) =>
          logger.error({ err, delivery_id: delivery!.id }, "waiting for the outcome of a test event failed"),
        );
        response.redirect(303, `${visit.view.path}/webhooks/deliveries/${delivery!.id}`);
      } catch (error) {
        await sendForm(response, visit, { ...refusalOf(response, error, refusals), url });
      }
    },
  } satisfies PageHandlers;
}
