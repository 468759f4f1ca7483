import { z } from "@vvs/config";
import { type WebhookUrlRule, webhookUrlProblem } from "@vvs/egress/webhook-url";
import { ServiceError, type Violation } from "@vvs/errors";
import { isId } from "@vvs/ids";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { checks, entityId, enumValue, externalId, text } from "../input/fields.ts";
import { type Forward, NOW, START, writeCursor, writeForwardCursor } from "../input/page.ts";
import { type eventPageSchema, frequencySchema, renderEvent, renderMonitor, renderRun } from "../render/monitor.ts";
import * as docs from "./monitors-docs.ts";
import { type Call, type Reply, type Route, type RouteContext, route } from "./route.ts";

/** Maximum duration of a read in addition to its wait, in milliseconds. */
const READ_TIMEOUT_MS = 5_000;

const monitorId = { prefix: "mon", missing: "monitor_not_found" } as const;
export const webhookUrlSchema = text().meta(docs.webhookUrl);

export const monitorRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/v1/monitors",
    scope: "monitors:write",
    docs: docs.create,
    idempotent: true,
    body: z
      .strictObject({
        entity_id: entityId,
        checks,
        webhook_url: webhookUrlSchema.optional(),
        frequency: frequencySchema.default("daily").transform((name) => enumValue(Frequency, name)),
        external_id: externalId().optional(),
      })
      .meta({ id: "CreateMonitorRequest" }),
    rules: webhookUrlViolations,
    async handle({ caller, activeMonitors, body, idempotency }, { monitor }) {
      if (!isId("ent", body.entity_id)) throw new ServiceError("entity_not_found");
      const created = await monitor.createMonitor({
        caller,
        entityId: body.entity_id,
        checks: body.checks,
        webhookUrl: body.webhook_url,
        frequency: body.frequency,
        externalId: body.external_id,
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
    docs: docs.list,
    list: true,
    query: z.strictObject({
      entity_id: text().optional().meta(docs.entityFilter),
      external_id: externalId().describe(docs.externalIdFilter).optional(),
    }),
    async handle({ caller, page, list, query }, { monitor }) {
      const { entity_id: entityId, external_id: externalId } = query;
      // Text that is not an entity id matches no monitor.
      if (entityId && !isId("ent", entityId)) return { body: { monitors: [], next_cursor: null } };
      const { monitors, next } = await monitor.listMonitors({ caller, page, entityId, externalId });
      return { body: { monitors: monitors.map(renderMonitor), next_cursor: writeCursor(list, next) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/monitors/:id",
    scope: "monitors:read",
    docs: docs.get,
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
    docs: docs.update,
    id: monitorId,
    body: z
      .strictObject({
        webhook_url: webhookUrlSchema.nullable().optional().describe("null removes it."),
        frequency: frequencySchema.transform((name) => enumValue(Frequency, name)).optional(),
        external_id: externalId().nullable().optional().describe("Your own number of the vendor; null removes it."),
      })
      .meta({ id: "UpdateMonitorRequest", minProperties: 1 }),
    rules(body, context) {
      if (["webhook_url", "frequency", "external_id"].every((field) => body[field] === undefined)) {
        return [{ path: "body", message: "must contain at least one of webhook_url, frequency and external_id" }];
      }
      return webhookUrlViolations(body, context);
    },
    async handle({ caller, id, body }, { monitor }) {
      // In the gRPC message an empty URL or number removes it.
      const webhookUrl = body.webhook_url === null ? "" : body.webhook_url;
      const externalId = body.external_id === null ? "" : body.external_id;
      const change = { webhookUrl, externalId, frequency: body.frequency };
      const updated = await monitor.updateMonitor({ caller, monitorId: id, ...change });
      return { body: renderMonitor(updated.monitor!) };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/monitors/:id",
    scope: "monitors:write",
    docs: docs.cancel,
    id: monitorId,
    async handle({ caller, id }, { monitor }) {
      const canceled = await monitor.cancelMonitor({ caller, monitorId: id });
      return { body: renderMonitor(canceled.monitor!) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/monitors/:id/runs",
    scope: "monitors:read",
    docs: docs.runs,
    id: monitorId,
    list: true,
    async handle({ caller, id, page, list }, { monitor }) {
      const { runs, next } = await monitor.listRuns({ caller, monitorId: id, page });
      return { body: { runs: runs.map(renderRun), next_cursor: writeCursor(list, next) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/monitors/:id/events",
    scope: "monitors:read",
    docs: docs.monitorEvents,
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
    docs: docs.events,
    list: true,
    forward: true,
    async handle(call, { monitor }) {
      const { caller, page, list, forward } = call;
      if (forward) return readForward(call, forward, monitor);
      const { events, next } = await monitor.listEvents({ caller, page });
      return { body: { events: events.map(renderEvent), next_cursor: writeCursor(list, next) } };
    },
  }),
];

/** Reads events forward. A client that hangs up frees its place. Waiting calls are answered when the gateway stops. */
async function readForward(
  { caller, page, list, hungUp, stopping }: Call<unknown, unknown>,
  { after, waitSeconds }: Forward,
  monitor: RouteContext["monitor"],
): Promise<Reply<z.infer<typeof eventPageSchema>>> {
  // The end is read only once, so that no event is skipped that is recorded while the call waits or the gateway stops.
  const end = after === NOW ? await monitor.getNewestPosition({ caller }) : undefined;
  const position = after === NOW || after === START ? end?.position : after;
  const startedAt = performance.now();
  const read = (seconds: number, signal: AbortSignal) => {
    const request = { caller, after: position, limit: page.limit, waitSeconds: seconds };
    return monitor.listEventsAfter(request, { timeoutMs: seconds * 1_000 + READ_TIMEOUT_MS, signal });
  };
  const waiting = read(waitSeconds, AbortSignal.any([hungUp, stopping]));
  const found = await waiting.catch((error: unknown) => {
    if (hungUp.aborted) return undefined;
    if (stopping.aborted) return read(0, hungUp);
    throw error;
  });
  const waitedMs = waitSeconds > 0 ? performance.now() - startedAt : 0;
  // Nobody receives this answer.
  if (!found) return { body: { events: [], next_cursor: null }, waitedMs };
  const body = { events: found.events.map(renderEvent), next_cursor: writeForwardCursor(list, found.position) };
  return { body, waitedMs };
}

/** Checks the URL as sent. The schema reports a missing or empty URL. */
export function webhookUrlViolations(body: Readonly<Record<string, unknown>>, context: WebhookUrlRule): Violation[] {
  const { webhook_url: url } = body;
  if (typeof url !== "string" || url.trim() === "") return [];
  const message = webhookUrlProblem(url, context);
  return message === undefined ? [] : [{ path: "webhook_url", message }];
}
