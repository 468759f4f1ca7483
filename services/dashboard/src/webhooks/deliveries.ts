import { ServiceError } from "@vvs/errors";
import { isId } from "@vvs/ids";
import type { Request } from "express";
import { FormUsedError } from "../http/form-token.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { actorView } from "../ui/actor.ts";
import { readPosition } from "../ui/list-position.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import type { Notice } from "../ui/parts.ts";
import { deliveriesPage } from "./deliveries-page.ts";
import { deliveriesUnavailablePage } from "./deliveries-unavailable.ts";
import { readDeliveryFilter, utcTime } from "./delivery-filter.ts";
import { deliveryPage } from "./delivery-page.ts";

const PAGE_SIZE = 25;

const notices: Readonly<Record<string, Notice>> = {
  replayed: { kind: "done", text: "The delivery starts again. Its next attempt is made immediately." },
  under_way: {
    kind: "problem",
    text: "The delivery was not replayed, because an attempt is in progress or an earlier event of the monitor must be delivered first. Try again in a moment.",
  },
  no_webhook_url: {
    kind: "problem",
    text: "The delivery was not replayed, because the monitor no longer has a webhook URL. Set one, then replay the delivery.",
  },
  sent_before: { kind: "problem", text: "This form was already sent, so the delivery was not replayed again." },
};

export function createDeliveryHandlers({ deliveries, readVendors, layout, formTokens, logger }: PageContext) {
  return {
    async list(request, response, visit) {
      const { filter, problems } = readDeliveryFilter(request.query);
      const after = readPosition(request.query.after, "dlv");
      const isRefused = Object.keys(problems).length > 0;
      const asked = {
        caller: visit.caller,
        status: filter.status,
        monitorId: filter.monitor_id,
        webhookUrl: filter.url,
        from: utcTime(filter.from),
        to: utcTime(filter.to),
        testsAlone: filter.tests === "only",
        page: { limit: PAGE_SIZE, after },
      };
      const found = isRefused
        ? { deliveries: [], next: undefined }
        : await unlessUnavailable(logger, visit, () => deliveries.listDeliveries(asked));
      const content = deliveriesPage({
        view: visit.view,
        mayManage: visit.may("manage_webhooks"),
        filter,
        problems,
        found,
        vendors: found && (await readVendors(visit, found.deliveries)),
        isFirst: after === undefined,
        notice: replayNotice(request),
      });
      const status = found ? (isRefused ? 400 : 200) : 503;
      layout.sendPage(response, { visit, section: "webhooks", title: "Deliveries", status, content });
    },

    async view(request, response, visit) {
      const page = { visit, section: "webhooks", title: "Delivery" } as const;
      const asked = { caller: visit.caller, deliveryId: deliveryIdOf(request) };
      const found = await unlessUnavailable(logger, visit, () => deliveries.getDelivery(asked));
      if (!found)
        return layout.sendPage(response, { ...page, status: 503, content: deliveriesUnavailablePage(page.title) });
      const delivery = found.delivery!;
      const vendors = await readVendors(visit, [delivery]);
      const content = deliveryPage({
        view: visit.view,
        mayReplay: visit.may("manage_webhooks"),
        delivery,
        vendor: vendors?.get(delivery.entityId),
        actorOf: (id) => actorView(id, { session: visit.session, keys: [] }),
        formToken: formTokens.issue(request, response),
        notice: noticeOf(request),
      });
      layout.sendPage(response, { ...page, content });
    },

    async replay(request, response, visit) {
      const deliveryId = deliveryIdOf(request);
      const path = `${visit.view.path}/webhooks/deliveries/${deliveryId}`;
      const asked = { caller: visit.caller, deliveryId };
      try {
        const { replayed } = await formTokens.once(request, response, () => deliveries.replayDelivery(asked));
        response.redirect(303, `${path}?done=${replayed ? "replayed" : "under_way"}`);
      } catch (error) {
        if (error instanceof FormUsedError) return response.redirect(303, `${path}?done=sent_before`);
        if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
        response.redirect(303, `${path}?done=no_webhook_url`);
      }
    },
  } satisfies PageHandlers;
}

function deliveryIdOf(request: Request): string {
  const id = String(request.params.delivery_id);
  if (!isId("dlv", id)) throw new ProblemError("page_not_found");
  return id;
}

function noticeOf({ query }: Request): Notice | undefined {
  return typeof query.done === "string" && Object.hasOwn(notices, query.done) ? notices[query.done] : undefined;
}

/** Returns the notice about a replay of failed deliveries that was just started. */
function replayNotice({ query }: Request): Notice | undefined {
  const { begun } = query;
  if (typeof begun !== "string" || !/^\d{1,6}$/.test(begun)) return undefined;
  const count = Number(begun).toLocaleString("en-US");
  const text = `${count} failed ${begun === "1" ? "delivery starts" : "deliveries start"} again. This list shows their progress.`;
  return { kind: "done", text };
}
