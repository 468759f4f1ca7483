import type { Request, Response } from "express";
import { field } from "../http/form.ts";
import { type Refusal, type RefusalTexts, refusalOf } from "../http/form-refusal.ts";
import { isRefusal } from "../http/refusal.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { CONFIRMED, noticeOf } from "../ui/notices.ts";
import { webhooksPage } from "./webhooks-page.ts";

const DELIVERIES_SHOWN = 5;
const ENDPOINTS_SHOWN = 20;

const notices = {
  confirmed: CONFIRMED,
  set: "Your secret was set. New attempts are signed with it.",
  rotated:
    "The secret was replaced. New attempts are signed with the new secret. Show it, and set it in the systems that receive your webhooks.",
  dismissed: "The endpoint was dismissed. It appears here again when the next event is sent to it.",
  ended: "The previous secret has ended. New attempts are signed only with the current secret.",
};

const refusals: RefusalTexts = {
  sentBefore:
    "This form was already sent, so nothing else was changed. Check the secret below before you send the form again.",
  fields: { value: "secret" },
};

export function createWebhookHandlers(context: PageContext) {
  const { webhookSecrets, deliveries, readVendors, readEndpoints, readPanel, layout, formTokens } = context;

  async function send(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { showsValue?: boolean },
  ): Promise<void> {
    const { caller } = visit;
    const { showsValue = false, status, notice, problems } = shown;
    const recent = { caller, page: { limit: DELIVERIES_SHOWN } };
    const [{ secret }, found, endpoints] = await Promise.all([
      webhookSecrets.getWebhookSecret(showsValue ? visit.bySession : { caller, withoutValue: true }),
      readPanel(visit, "deliveries", (call) => deliveries.listDeliveries(recent, call)),
      readEndpoints(visit, { limit: ENDPOINTS_SHOWN }),
    ]);
    const content = webhooksPage({
      visit,
      secret: showsValue ? secret! : { ...secret!, value: "" },
      formToken: formTokens.issue(request, response),
      deliveries: found?.deliveries,
      vendors: await readVendors(visit, found?.deliveries ?? []),
      endpoints,
      notice,
      problems,
    });
    layout.sendPage(response, { visit, section: "webhooks", title: "Webhooks", status, content });
  }

  async function change(
    request: Request,
    response: Response,
    visit: Visit,
    done: keyof typeof notices,
    run: (submission: string) => Promise<unknown>,
  ): Promise<void> {
    try {
      await formTokens.once(request, response, run);
      response.redirect(303, `${visit.view.path}/webhooks?done=${done}`);
    } catch (error) {
      await send(request, response, visit, refusalOf(error, refusals));
    }
  }

  return {
    view: (request, response, visit) => send(request, response, visit, { notice: noticeOf(request, notices) }),

    showSecret: (request, response, visit) => send(request, response, visit, { showsValue: true }),

    setSecret(request, response, visit) {
      const endPreviousNow = field(request, "previous") === "end";
      // Pasted text sometimes ends with a line break.
      const secret = { ...visit.bySession, value: field(request, "value").trim(), endPreviousNow };
      return change(request, response, visit, "set", (submission) =>
        webhookSecrets.setWebhookSecret({ ...secret, submission }),
      );
    },

    rotateSecret(request, response, visit) {
      const endPreviousNow = field(request, "previous") === "end";
      return change(request, response, visit, "rotated", (submission) =>
        webhookSecrets.rotateWebhookSecret({ ...visit.bySession, endPreviousNow, submission }),
      );
    },

    async dismissEndpoint(request, response, visit) {
      const dismissed = { caller: visit.caller, webhookUrl: field(request, "url") };
      try {
        await deliveries.dismissEndpoint(dismissed);
      } catch (error) {
        if (!isRefusal(error, "not_found")) throw error;
      }
      response.redirect(303, `${visit.view.path}/webhooks?done=dismissed#endpoints`);
    },

    endPreviousSecret: (request, response, visit) =>
      change(request, response, visit, "ended", () => webhookSecrets.endPreviousWebhookSecret(visit.bySession)),
  } satisfies PageHandlers;
}
