import { setTimeout as wait } from "node:timers/promises";
import type { Delivery } from "@vvs/proto/webhook/v1/webhook";
import type { Request, Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { type Refusal, type RefusalTexts, refusalOf } from "../http/form-refusal.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { testEventPage } from "./test-event-page.ts";

/** How long to wait for the outcome: an attempt takes up to 15 s. Later outcomes appear on the delivery's page. */
const OUTCOME_WITHIN_MS = 18_000;
const LOOK_EVERY_MS = 200;
const SUGGESTED = 50;

const refusals: RefusalTexts = {
  sentBefore: "This form was already sent, so no other event was sent. Find the first one in the list of deliveries.",
  codes: ["rate_limited"],
  fields: { webhook_url: "webhook URL" },
};

export function createTestEventHandlers({ deliveries, readEndpoints, layout, formTokens, logger }: PageContext) {
  /** Sends the form. A URL that can't be one is not shown again, because it may be a secret pasted by mistake. */
  async function sendForm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { url: string },
  ): Promise<void> {
    const found = await readEndpoints(visit, { limit: SUGGESTED });
    const content = testEventPage({
      ...shown,
      visit,
      url: URL.canParse(shown.url) ? shown.url : "",
      known: found?.endpoints.map(({ webhookUrl }) => webhookUrl) ?? [],
      formToken: formTokens.issue(request, response),
    });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "webhooks", title: "Send a test event", status, content });
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
    ask: (request, response, visit) => sendForm(request, response, visit, { url: queryValue(request, "url") }),

    async send(request, response, visit) {
      const url = field(request, "url").trim();
      try {
        const { delivery } = await formTokens.once(request, response, () =>
          deliveries.sendTestEvent({ caller: visit.caller, webhookUrl: url }),
        );
        await outcome(visit, delivery!).catch((err) =>
          logger.error({ err, delivery_id: delivery!.id }, "waiting for the outcome of a test event failed"),
        );
        response.redirect(303, `${visit.view.path}/webhooks/deliveries/${delivery!.id}`);
      } catch (error) {
        await sendForm(request, response, visit, { ...refusalOf(error, refusals), url });
      }
    },
  } satisfies PageHandlers;
}
