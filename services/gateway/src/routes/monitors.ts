import { z } from "@vvs/config";
import { webhookUrlProblem } from "@vvs/egress/webhook-url";
import { ServiceError, type Violation } from "@vvs/errors";
import { isId } from "@vvs/ids";
import { checks } from "../input/checks.ts";
import { writeCursor } from "../input/page.ts";
import { text } from "../input/text.ts";
import { frequencies, frequencyNames, renderEvent, renderMonitor } from "../render/monitor.ts";
import { type Route, type RuleContext, route } from "./route.ts";

const monitorId = { prefix: "mon", missing: "monitor_not_found" } as const;
const frequency = z.enum(frequencyNames).transform((name) => frequencies[name]);

export const monitorRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/v1/monitors",
    scope: "monitors:write",
    idempotent: true,
    body: z.strictObject({
      entity_id: text(),
      checks,
      webhook_url: text(),
      frequency: frequency.default(frequencies.daily),
    }),
    rules: webhookUrlViolations,
    async handle({ caller, activeMonitors, body, idempotency }, { monitor }) {
      if (!isId("ent", body.entity_id)) throw new ServiceError("entity_not_found");
      const created = await monitor.createMonitor({
        caller,
        entityId: body.entity_id,
        checks: body.checks,
        webhookUrl: body.webhook_url,
        frequency: body.frequency,
        activeLimit: activeMonitors,
        idempotency,
      });
      return {
        status: 201,
        body: renderMonitor(created.monitor!),
        location: `/v1/monitors/${created.monitor!.id}`,
        replayed: created.replayed,
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/monitors",
    scope: "monitors:read",
    list: true,
    async handle({ caller, page, list }, { monitor }) {
      const { monitors, next } = await monitor.listMonitors({ caller, page });
      return { body: { monitors: monitors.map(renderMonitor), next_cursor: writeCursor(list, next) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/monitors/:id",
    scope: "monitors:read",
    id: monitorId,
    async handle({ caller, id }, { monitor }) {
      const found = await monitor.getMonitor({ caller, monitorId: id });
      return { body: renderMonitor(found.monitor!) };
    },
  }),
  route({
    method: "PATCH",
    path: "/v1/monitors/:id",
    scope: "monitors:write",
    id: monitorId,
    body: z.strictObject({ webhook_url: text().optional(), frequency: frequency.optional() }),
    rules(body, context) {
      if (body.webhook_url === undefined && body.frequency === undefined) {
        return [{ path: "body", message: "must hold webhook_url or frequency" }];
      }
      return webhookUrlViolations(body, context);
    },
    async handle({ caller, id, body }, { monitor }) {
      const { webhook_url: webhookUrl, frequency } = body;
      const updated = await monitor.updateMonitor({ caller, monitorId: id, webhookUrl, frequency });
      return { body: renderMonitor(updated.monitor!) };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/monitors/:id",
    scope: "monitors:write",
    id: monitorId,
    async handle({ caller, id }, { monitor }) {
      const canceled = await monitor.cancelMonitor({ caller, monitorId: id });
      return { body: renderMonitor(canceled.monitor!) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/monitors/:id/events",
    scope: "monitors:read",
    id: monitorId,
    list: true,
    async handle({ caller, id, page, list }, { monitor }) {
      const { events, next } = await monitor.listEvents({ caller, monitorId: id, page });
      return { body: { events: events.map(renderEvent), next_cursor: writeCursor(list, next) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/events",
    scope: "monitors:read",
    list: true,
    async handle({ caller, page, list }, { monitor }) {
      const { events, next } = await monitor.listEvents({ caller, page });
      return { body: { events: events.map(renderEvent), next_cursor: writeCursor(list, next) } };
    },
  }),
];

/** Judged as sent; that it is missing or empty is the schema's to say. */
function webhookUrlViolations(body: Readonly<Record<string, unknown>>, context: RuleContext): Violation[] {
  const { webhook_url: url } = body;
  if (typeof url !== "string" || url.trim() === "") return [];
  const message = webhookUrlProblem(url, context);
  return message === undefined ? [] : [{ path: "webhook_url", message }];
}
