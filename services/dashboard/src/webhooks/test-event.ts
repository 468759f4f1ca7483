import { setTimeout as wait } from "node:timers/promises";
import { ServiceError } from "@vvs/errors";
import type { Delivery } from "@vvs/proto/webhook/v1/webhook";
import type { Request, Response } from "express";
import { field } from "../http/form.ts";
import { FormUsedError } from "../http/form-token.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import type { Notice } from "../ui/parts.ts";
import { testEventPage } from "./test-event-page.ts";

/** How long to wait for the outcome: an attempt takes up to 15 s. Later outcomes appear on the delivery's page. */
const OUTCOME_WITHIN_MS = 18_000;
const LOOK_EVERY_MS = 200;
const SUGGESTED = 50;

interface FormState {
  readonly status?: number;
  readonly url?: string;
  readonly notice?: Notice;
  readonly problem?: string;
}

export function createTestEventHandlers({ deliveries, readEndpoints, layout, formTokens, logger }: PageContext) {
  async function sendForm(request: Request, response: Response, visit: Visit, shown: FormState): Promise<void> {
    const found = await readEndpoints(visit, { limit: SUGGESTED });
    const content = testEventPage({
      ...shown,
      view: visit.view,
      known: found?.endpoints.map(({ webhookUrl }) => webhookUrl) ?? [],
      formToken: formTokens.issue(request, response),
    });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "webhooks", title: "Send a test event", status, content });
  }

  /** Waits until the only attempt has ended, or until the maximum wait is over. */
  async function outcome(visit: Visit, { id }: Delivery): Promise<void> {
    const end = performance.now() + OUTCOME_WITHIN_MS;
    while (performance.now() < end) {
      const { delivery } = await deliveries.getDelivery({ caller: visit.caller, deliveryId: id });
      if (delivery!.status !== "pending") return;
      await wait(LOOK_EVERY_MS);
    }
  }

  return {
    ask(request, response, visit) {
      const { url } = request.query;
      return sendForm(request, response, visit, { url: typeof url === "string" && URL.canParse(url) ? url : "" });
    },

    async send(request, response, visit) {
      const url = field(request, "url").trim();
      const asked = { caller: visit.caller, webhookUrl: url };
      try {
        const { delivery } = await formTokens.once(request, response, () => deliveries.sendTestEvent(asked));
        await outcome(visit, delivery!).catch((err) =>
          logger.error({ err, delivery_id: delivery!.id }, "waiting for the outcome of a test event failed"),
        );
        response.redirect(303, `${visit.view.path}/webhooks/deliveries/${delivery!.id}`);
      } catch (error) {
        await sendForm(request, response, visit, { ...refusalOf(error), url: URL.canParse(url) ? url : "" });
      }
    },
  } satisfies PageHandlers;
}

const SENT_BEFORE =
  "This form was already sent, so no other event was sent. Find the first one in the list of deliveries.";

/** Returns a refusal that the user can correct or should know. Other errors are thrown as they are. */
function refusalOf(error: unknown): FormState {
  if (error instanceof FormUsedError) return { status: 409, notice: { kind: "problem", text: SENT_BEFORE } };
  if (!(error instanceof ServiceError)) throw error;
  if (error.code === "rate_limited") return { status: 429, notice: { kind: "problem", text: error.message } };
  if (error.code !== "invalid_request") throw error;
  const message = error.details.find(({ path }) => path === "webhook_url")?.message;
  if (!message) return { status: 400, notice: { kind: "problem", text: error.message } };
  return { status: 400, problem: `The webhook URL ${message}. Nothing was sent.` };
}
