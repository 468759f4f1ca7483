import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { AccountService } from "@vvs/proto/account/v1/account";
import type { WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Request, Response } from "express";
import type { ReadEndpoints } from "./endpoints.ts";
import { field } from "./http/form.ts";
import { type FormTokens, FormUsedError } from "./http/form-token.ts";
import type { PageHandler, Visit } from "./http/session.ts";
import type { Layout } from "./pages/layout.ts";
import type { Notice } from "./pages/parts.ts";
import { type RecentDeliveries, webhooksPage } from "./pages/webhooks.ts";
import type { ReadVendors } from "./vendors.ts";

type Account = Pick<
  Client<typeof AccountService>,
  "getWebhookSecret" | "setWebhookSecret" | "rotateWebhookSecret" | "endPreviousWebhookSecret"
>;
type Deliveries = Pick<Client<typeof WebhookDispatcherService>, "listDeliveries">;

export interface WebhookHandlers {
  readonly view: PageHandler;
  readonly showSecret: PageHandler;
  readonly setSecret: PageHandler;
  readonly rotateSecret: PageHandler;
  readonly endPreviousSecret: PageHandler;
}

/** What the page shows beside the state of things. */
interface Shown {
  readonly status?: number;
  readonly notice?: Notice;
  readonly valueProblem?: string;
  readonly showsValue?: boolean;
}

const DELIVERIES_SHOWN = 5;
const ENDPOINTS_SHOWN = 20;

const done: Readonly<Record<string, string>> = {
  confirmed: "Your identity is confirmed. Nothing was done yet: choose again what you were about to do.",
  set: "Your secret is set. New attempts are signed with it from now on.",
  rotated:
    "The secret is replaced. New attempts are signed with the new one from now on: show it, and give it to your subscriber.",
  ended: "The previous secret has ended. New attempts are signed with the present one alone.",
};

export function createWebhookHandlers(options: {
  account: Account;
  deliveries: Deliveries;
  readVendors: ReadVendors;
  readEndpoints: ReadEndpoints;
  layout: Layout;
  formTokens: FormTokens;
  logger: Logger;
}): WebhookHandlers {
  const { account, readVendors, readEndpoints, layout, formTokens, logger } = options;

  /** The secret has a page also while deliveries can't be had. */
  async function recentDeliveries(visit: Visit): Promise<RecentDeliveries | undefined> {
    const request = { caller: toProtoCaller(visit.caller), page: { limit: DELIVERIES_SHOWN } };
    try {
      const { deliveries } = await options.deliveries.listDeliveries(request);
      const real = deliveries.filter(({ test }) => !test);
      return {
        deliveries,
        vendors: await readVendors(
          visit,
          real.map(({ entityId }) => entityId),
        ),
      };
    } catch (error) {
      logger.error({ err: error, request_id: visit.caller.requestId }, "deliveries could not be listed");
      return undefined;
    }
  }

  async function send(request: Request, response: Response, visit: Visit, shown: Shown): Promise<void> {
    const { showsValue = false, status, notice, valueProblem } = shown;
    const [{ secret }, recent, endpoints] = await Promise.all([
      account.getWebhookSecret({ caller: toProtoCaller(visit.caller), withoutValue: !showsValue }),
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
    what: { done: string; run: () => Promise<unknown> },
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
        caller: toProtoCaller(visit.caller),
        // Pasted text comes with a line break now and then.
        value: field(request, "value").trim(),
        endPreviousNow: field(request, "previous") === "end",
      };
      return change(request, response, visit, { done: "set", run: () => account.setWebhookSecret(wanted) });
    },

    rotateSecret(request, response, visit) {
      const wanted = {
        caller: toProtoCaller(visit.caller),
        endPreviousNow: field(request, "previous") === "end",
      };
      return change(request, response, visit, { done: "rotated", run: () => account.rotateWebhookSecret(wanted) });
    },

    endPreviousSecret(request, response, visit) {
      const run = () => account.endPreviousWebhookSecret({ caller: toProtoCaller(visit.caller) });
      return change(request, response, visit, { done: "ended", run });
    },
  };
}

/** What the user can put right. Errors: all others, as they are. */
function refusalOf(error: unknown): Shown {
  if (error instanceof FormUsedError) {
    const text =
      "This form was sent before, so nothing was changed now. Look at the secret below before you send it again.";
    return { status: 409, notice: { kind: "problem", text } };
  }
  if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
  const message = error.details.find(({ path }) => path === "value")?.message;
  if (!message) return { status: 400, notice: { kind: "problem", text: error.message } };
  return { status: 400, valueProblem: `The secret ${message}. Nothing was changed.` };
}
