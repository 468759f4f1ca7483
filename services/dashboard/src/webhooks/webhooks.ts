import { ServiceError } from "@vvs/errors";
import type { Request, Response } from "express";
import { field } from "../http/form.ts";
import { FormUsedError } from "../http/form-token.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import type { Notice } from "../ui/parts.ts";
import { type RecentDeliveries, webhooksPage } from "./webhooks-page.ts";

/** The result of a form, shown on the page. */
interface FormResult {
  readonly status?: number;
  readonly notice?: Notice;
  readonly valueProblem?: string;
  readonly showsValue?: boolean;
}

const DELIVERIES_SHOWN = 5;
const ENDPOINTS_SHOWN = 20;

const done: Readonly<Record<string, string>> = {
  confirmed: "Your identity is confirmed. Your previous action was not carried out yet. Start it again.",
  set: "Your secret was set. New attempts are signed with it.",
  rotated:
    "The secret was replaced. New attempts are signed with the new secret. Show it, and set it in the systems that receive your webhooks.",
  ended: "The previous secret has ended. New attempts are signed only with the current secret.",
};

export function createWebhookHandlers({
  webhookSecrets,
  deliveries,
  readVendors,
  readEndpoints,
  layout,
  formTokens,
  logger,
}: PageContext) {
  /** Returns the latest deliveries; undefined while unavailable, so that the secret can still be managed. */
  async function recentDeliveries(visit: Visit): Promise<RecentDeliveries | undefined> {
    const request = { caller: visit.caller, page: { limit: DELIVERIES_SHOWN } };
    try {
      const found = await deliveries.listDeliveries(request);
      return { deliveries: found.deliveries, vendors: await readVendors(visit, found.deliveries) };
    } catch (error) {
      logger.error({ err: error, request_id: visit.caller.requestId }, "listing deliveries failed");
      return undefined;
    }
  }

  async function send(request: Request, response: Response, visit: Visit, shown: FormResult): Promise<void> {
    const { showsValue = false, status, notice, valueProblem } = shown;
    const [{ secret }, recent, endpoints] = await Promise.all([
      webhookSecrets.getWebhookSecret({ caller: visit.caller, withoutValue: !showsValue }),
      recentDeliveries(visit),
      readEndpoints(visit, { limit: ENDPOINTS_SHOWN }),
    ]);
    const formToken = formTokens.issue(request, response);
    const content = webhooksPage({
      view: visit.view,
      secret: showsValue ? secret! : { ...secret!, value: "" },
      formToken,
      mayManage: visit.may("manage_webhooks"),
      recent,
      endpoints,
      notice,
      valueProblem,
    });
    layout.sendPage(response, { visit, section: "webhooks", title: "Webhooks", status, content });
  }

  async function change(
    request: Request,
    response: Response,
    visit: Visit,
    what: { done: string; run: (submission: string) => Promise<unknown> },
  ): Promise<void> {
    try {
      await formTokens.once(request, response, what.run);
      response.redirect(303, `${visit.view.path}/webhooks?done=${what.done}`);
    } catch (error) {
      await send(request, response, visit, refusalOf(error));
    }
  }

  return {
    view(request, response, visit) {
      const text = typeof request.query.done === "string" ? done[request.query.done] : undefined;
      return send(request, response, visit, { notice: text ? { kind: "done", text } : undefined });
    },

    showSecret: (request, response, visit) => send(request, response, visit, { showsValue: true }),

    setSecret(request, response, visit) {
      const wanted = {
        caller: visit.caller,
        // Pasted text sometimes ends with a line break.
        value: field(request, "value").trim(),
        endPreviousNow: field(request, "previous") === "end",
      };
      return change(request, response, visit, {
        done: "set",
        run: (submission) => webhookSecrets.setWebhookSecret({ ...wanted, submission }),
      });
    },

    rotateSecret(request, response, visit) {
      const wanted = {
        caller: visit.caller,
        endPreviousNow: field(request, "previous") === "end",
      };
      return change(request, response, visit, {
        done: "rotated",
        run: (submission) => webhookSecrets.rotateWebhookSecret({ ...wanted, submission }),
      });
    },

    endPreviousSecret(request, response, visit) {
      const run = () => webhookSecrets.endPreviousWebhookSecret({ caller: visit.caller });
      return change(request, response, visit, { done: "ended", run });
    },
  } satisfies PageHandlers;
}

/** Returns a refusal that the user can correct. Other errors are thrown as they are. */
function refusalOf(error: unknown): FormResult {
  if (error instanceof FormUsedError) {
    const text =
      "This form was already sent, so nothing else was changed. Check the secret below before you send the form again.";
    return { status: 409, notice: { kind: "problem", text } };
  }
  if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
  const message = error.details.find(({ path }) => path === "value")?.message;
  if (!message) return { status: 400, notice: { kind: "problem", text: error.message } };
  return { status: 400, valueProblem: `The secret ${message}. Nothing was changed.` };
}
