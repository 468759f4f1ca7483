import { ServiceError } from "@vvs/errors";
import type { Request } from "express";
import { queryValue } from "../http/form.ts";
import { FormUsedError } from "../http/form-token.ts";
import { pathId } from "../http/paths.ts";
import type { PageHandlers } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { actorView } from "../ui/actor.ts";
import { readPosition } from "../ui/list-position.ts";
import { noticeOf, problemNotice } from "../ui/notices.ts";
import { unavailablePage, unlessUnavailable } from "../ui/panels.ts";
import type { Notice } from "../ui/parts.ts";
import { deliveriesPage, deliveriesUnavailable } from "./deliveries-page.ts";
import { readDeliveryFilter, utcTime } from "./delivery-filter.ts";
import { deliveryPage } from "./delivery-page.ts";

const PAGE_SIZE = 25;

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
  const { deliveries, readVendors, layout, formTokens, logger, apiBaseUrl } = context;
  return {
    async list(request, response, visit) {
      const list = readDeliveryFilter(request.query);
      const { status, event_id, monitor_id, url, from, to, tests } = list.filter;
      const after = readPosition(request.query.after, "dlv");
      const listed = {
        caller: visit.caller,
        // Deliveries that wait for a retry fail too.
        status: status === "failed" ? "failing" : status,
        eventId: event_id,
        monitorId: monitor_id,
        webhookUrl: url,
        from: utcTime(from),
        to: utcTime(to),
        testsOnly: tests === "only",
        page: { limit: PAGE_SIZE, after },
      };
      const found = list.isRefused
        ? undefined
        : await unlessUnavailable(logger, visit, () => deliveries.listDeliveries(listed));
      const vendors = await readVendors(visit, found?.deliveries ?? []);
      const notice = startedNotice(request);
      const content = deliveriesPage({ visit, list, found, vendors, isFirst: after === undefined, notice, apiBaseUrl });
      const httpStatus = list.isRefused ? 400 : found ? 200 : 503;
      layout.sendPage(response, { visit, section: "webhooks", title: "Deliveries", status: httpStatus, content });
    },

    async view(request, response, visit) {
      const page = { visit, section: "webhooks", title: "Delivery" } as const;
      const { caller } = visit;
      const deliveryId = pathId(request, "delivery_id", "dlv");
      const found = await unlessUnavailable(logger, visit, () => deliveries.getDelivery({ caller, deliveryId }));
      if (!found) return layout.sendPage(response, unavailablePage(page, deliveriesUnavailable));
      const delivery = found.delivery!;
      const vendors = await readVendors(visit, [delivery]);
      const content = deliveryPage({
        visit,
        delivery,
        vendor: vendors?.get(delivery.entityId),
        actorOf: (id) => actorView(id, { session: visit.session, keys: [] }),
        formToken: formTokens.issue(request, response),
        notice: noticeOf(request, notices),
      });
      layout.sendPage(response, { ...page, content });
    },

    async replay(request, response, visit) {
      const deliveryId = pathId(request, "delivery_id", "dlv");
      const redirect = (done: keyof typeof notices) =>
        response.redirect(303, `${visit.view.path}/webhooks/deliveries/${deliveryId}?done=${done}`);
      try {
        const { replayed } = await formTokens.once(request, response, () =>
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

/** Returns the notice about a replay of failed deliveries that was just started. */
function startedNotice(request: Request): Notice | undefined {
  const begun = queryValue(request, "begun");
  if (!/^\d{1,6}$/.test(begun)) return undefined;
  const count = Number(begun).toLocaleString("en-US");
  const text = `${count} failed ${begun === "1" ? "delivery starts" : "deliveries start"} again. This list shows their progress.`;
  return { kind: "done", text };
}
