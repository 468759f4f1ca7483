import { isId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import type { Delivery, WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Request } from "express";
import { actorView } from "./actor.ts";
import { unlessAway } from "./away.ts";
import { readDeliveryFilter, utcTime } from "./delivery-filter.ts";
import { type FormTokens, FormUsedError } from "./http/form-token.ts";
import { ProblemError } from "./http/problem.ts";
import type { PageHandler, Visit } from "./http/session.ts";
import { readPlace } from "./list-place.ts";
import { deliveriesPage } from "./pages/deliveries.ts";
import { deliveriesAwayPage } from "./pages/deliveries-away.ts";
import { deliveryPage } from "./pages/delivery.ts";
import type { Layout } from "./pages/layout.ts";
import type { Notice } from "./pages/parts.ts";
import type { ReadVendors } from "./vendors.ts";

export interface DeliveryHandlers {
  readonly list: PageHandler;
  readonly view: PageHandler;
  readonly replay: PageHandler;
}

const SHOWN = 25;

const notices: Readonly<Record<string, Notice>> = {
  replayed: { kind: "done", text: "The delivery begins again: its next attempt is made at once." },
  under_way: {
    kind: "problem",
    text: "Nothing was begun again: an attempt is being made at this moment, or an earlier event of the monitor goes first.",
  },
  sent_before: { kind: "problem", text: "This form was sent before, so nothing was begun again now." },
};

export function createDeliveryHandlers(options: {
  deliveries: Pick<Client<typeof WebhookDispatcherService>, "listDeliveries" | "getDelivery" | "replayDelivery">;
  readVendors: ReadVendors;
  layout: Layout;
  formTokens: FormTokens;
  logger: Logger;
}): DeliveryHandlers {
  const { deliveries, readVendors, layout, formTokens, logger } = options;

  /** Those of tests are made up. */
  const vendorsOf = (visit: Visit, of: readonly Delivery[]) =>
    readVendors(
      visit,
      of.filter(({ test }) => !test).map(({ entityId }) => entityId),
    );

  return {
    async list(request, response, visit) {
      const { filter, problems } = readDeliveryFilter(request.query);
      const after = readPlace(request.query.after, "dlv");
      const isRefused = Object.keys(problems).length > 0;
      const asked = {
        caller: toProtoCaller(visit.caller),
        status: filter.status,
        monitorId: filter.monitor_id,
        webhookUrl: filter.url,
        from: utcTime(filter.from),
        to: utcTime(filter.to),
        testsAlone: filter.tests === "only",
        page: { limit: SHOWN, after },
      };
      const found = isRefused
        ? { deliveries: [], next: undefined }
        : await unlessAway(logger, visit, () => deliveries.listDeliveries(asked));
      const content = deliveriesPage({
        view: visit.view,
        mayManage: visit.may("manage_webhooks"),
        filter,
        problems,
        found,
        vendors: found && (await vendorsOf(visit, found.deliveries)),
        isFirst: after === undefined,
        notice: begunNotice(request),
      });
      const status = found ? (isRefused ? 400 : 200) : 503;
      layout.sendPage(response, { visit, section: "webhooks", title: "Deliveries", status, content });
    },

    async view(request, response, visit) {
      const page = { visit, section: "webhooks", title: "Delivery" } as const;
      const asked = { caller: toProtoCaller(visit.caller), deliveryId: deliveryIdOf(request) };
      const found = await unlessAway(logger, visit, () => deliveries.getDelivery(asked));
      if (!found) return layout.sendPage(response, { ...page, status: 503, content: deliveriesAwayPage(page.title) });
      const delivery = found.delivery!;
      const vendors = await vendorsOf(visit, [delivery]);
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
      const asked = { caller: toProtoCaller(visit.caller), deliveryId };
      try {
        const { replayed } = await formTokens.once(request, response, () => deliveries.replayDelivery(asked));
        response.redirect(303, `${path}?done=${replayed ? "replayed" : "under_way"}`);
      } catch (error) {
        if (!(error instanceof FormUsedError)) throw error;
        response.redirect(303, `${path}?done=sent_before`);
      }
    },
  };
}

function deliveryIdOf(request: Request): string {
  const id = String(request.params.delivery_id);
  if (!isId("dlv", id)) throw new ProblemError("no_page");
  return id;
}

function noticeOf({ query }: Request): Notice | undefined {
  return typeof query.done === "string" && Object.hasOwn(notices, query.done) ? notices[query.done] : undefined;
}

/** Told of a replay of many that was just begun. */
function begunNotice({ query }: Request): Notice | undefined {
  const { begun } = query;
  if (typeof begun !== "string" || !/^\d{1,6}$/.test(begun)) return undefined;
  const count = Number(begun).toLocaleString("en-US");
  const text = `${count} failed ${begun === "1" ? "delivery begins" : "deliveries begin"} again. This list shows how they fare.`;
  return { kind: "done", text };
}
