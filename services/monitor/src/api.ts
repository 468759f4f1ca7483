import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { checkOf, statusOf } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { outside } from "@vvs/fair-queue";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { Frequency as ProtoFrequency } from "@vvs/proto/monitor/v1/monitor";
import type { Callers, Handlers } from "@vvs/rpc";
import { callerOf, type Environment, environmentOf, type Tenant } from "@vvs/tenant";
import type { MonitorDomain } from "./domain.ts";
import { confirmedRunMessage, eventMessage, monitorMessage, runMessage } from "./messages.ts";
import { frequencyOf } from "./model/frequency.ts";
import type { Positions } from "./sweep/positions.ts";

type Service = typeof MonitorService;

const GATEWAY_AND_DASHBOARD = ["gateway", "dashboard"];
const MAX_WAIT_SECONDS = 20;
/** For monitors that don't stand, as after each change. */
const NONE_SWEPT: Positions = new Map();

/** The services that may call each method. */
export const monitorCallers: Callers<Service> = {
  createMonitor: [...GATEWAY_AND_DASHBOARD, "verification"],
  getMonitor: GATEWAY_AND_DASHBOARD,
  listMonitors: GATEWAY_AND_DASHBOARD,
  countMonitors: ["dashboard"],
  updateMonitor: GATEWAY_AND_DASHBOARD,
  cancelMonitor: GATEWAY_AND_DASHBOARD,
  listRuns: GATEWAY_AND_DASHBOARD,
  listConfirmedRuns: ["dashboard"],
  listEvents: GATEWAY_AND_DASHBOARD,
  listEventsAfter: ["gateway"],
  getNewestPosition: ["gateway"],
  releaseVerifications: ["verification"],
};

/** Creates the gRPC handlers. They translate messages and call the domain of the caller's environment. */
export function createMonitorHandlers(
  domains: Readonly<Record<Environment, MonitorDomain>>,
  /** Aborted when the service stops; ends waiting calls. */
  stopping: AbortSignal,
): Handlers<Service> {
  const domainOf = (tenant: Tenant) => domains[tenant.environment];

  const handlers: Handlers<Service> = {
    async createMonitor(request) {
      const caller = callerOf(request.caller);
      const checks = request.checks.map(
        (check) => checkOf(check) ?? invalid("checks", "must contain only known checks"),
      );
      if (checks.length === 0) invalid("checks", "must contain at least one check");
      const { create, ensure } = domainOf(caller.tenant).commands;
      const { value, replayed } = await (request.unlessExists ? ensure : create)(caller, {
        entityId: request.entityId,
        checks: [...new Set(checks)],
        frequency: frequencyOf(request.frequency) ?? invalid("frequency", "must be a known frequency"),
        webhookUrl: request.webhookUrl || undefined,
        externalId: request.externalId || undefined,
        activeLimit: request.activeLimit,
        idempotency: request.idempotency,
      });
      return { monitor: monitorMessage(value, NONE_SWEPT), replayed };
    },
    async getMonitor(request) {
      const { tenant } = callerOf(request.caller);
      const { commands, readPositions } = domainOf(tenant);
      const positions = await readPositions();
      return { monitor: monitorMessage(await commands.existing(tenant, request.monitorId), positions) };
    },
    async listMonitors(request) {
      const { tenant } = callerOf(request.caller);
      const { entityId, externalId, canceled, lastOutcome, unanswered } = request;
      const { store, now, readPositions } = domainOf(tenant);
      const filter = {
        status: canceled ? "canceled" : "active",
        entityId,
        externalId,
        lastOutcome: statusOf(lastOutcome),
        unansweredAt: unanswered ? now() : undefined,
      } as const;
      const positions = await readPositions();
      const { items, next } = await store.list(tenant, filter, request.page);
      return { monitors: items.map((monitor) => monitorMessage(monitor, positions)), next };
    },
    async countMonitors(request) {
      const { tenant } = callerOf(request.caller);
      return { active: await domainOf(tenant).store.activeMonitors(tenant) };
    },
    async updateMonitor(request) {
      const caller = callerOf(request.caller);
      const frequency =
        request.frequency === ProtoFrequency.UNSPECIFIED
          ? undefined
          : (frequencyOf(request.frequency) ?? invalid("frequency", "must be a known frequency"));
      // An empty value removes it.
      const webhookUrl = request.webhookUrl === "" ? null : request.webhookUrl;
      const externalId = request.externalId === "" ? null : request.externalId;
      const change = { frequency, webhookUrl, externalId };
      const { commands } = domainOf(caller.tenant);
      return { monitor: monitorMessage(await commands.update(caller, request.monitorId, change), NONE_SWEPT) };
    },
    async cancelMonitor(request) {
      const caller = callerOf(request.caller);
      const { commands } = domainOf(caller.tenant);
      return { monitor: monitorMessage(await commands.cancel(caller, request.monitorId), NONE_SWEPT) };
    },
    async listRuns(request) {
      const { tenant } = callerOf(request.caller);
      const { commands, listRuns, readPositions } = domainOf(tenant);
      const positions = await readPositions();
      const monitor = await commands.existing(tenant, request.monitorId);
      const { items, next } = await listRuns(tenant, request.monitorId, request.page);
      return { runs: items.map((run) => runMessage(run, monitor, positions)), next };
    },
    async listConfirmedRuns({ caller, entityIds, before }) {
      const { tenant } = callerOf(caller);
      const found = await domainOf(tenant).listConfirmedRuns(tenant, entityIds, before && timestampDate(before));
      return { runs: found.map(confirmedRunMessage) };
    },
    async listEvents(request) {
      const { tenant } = callerOf(request.caller);
      const monitorId = request.monitorId || undefined;
      if (monitorId) await domainOf(tenant).commands.existing(tenant, monitorId);
      const { items, next } = await domainOf(tenant).history.list(tenant, monitorId, request.page);
      return { events: items.map(eventMessage), next };
    },
    async listEventsAfter(request, { signal }) {
      const { tenant } = callerOf(request.caller);
      const { reader, waits } = domainOf(tenant);
      const { limit, waitSeconds } = request;
      const after = request.after === undefined ? undefined : Number(request.after);
      if (waitSeconds < 0 || waitSeconds > MAX_WAIT_SECONDS)
        invalid("wait", `must be between 0 and ${MAX_WAIT_SECONDS} seconds`);
      const read = () => reader.after(tenant, after, limit);
      let found = await read();
      if (found.events.length === 0 && waitSeconds > 0) {
        const options = { ms: waitSeconds * 1_000, signal: AbortSignal.any([signal, stopping]) };
        await outside(() => waits.untilAfter(tenant, found.position, options));
        found = await read();
      }
      return { events: found.events.map(eventMessage), position: BigInt(found.position) };
    },
    async getNewestPosition(request) {
      const { tenant } = callerOf(request.caller);
      return { position: BigInt(await domainOf(tenant).reader.end(tenant)) };
    },
    async releaseVerifications({ environment, verifications }) {
      const named = await domains[environmentOf(environment)].releaseVerifications(verifications);
      return { named: [...named].map(([id, until]) => ({ id, until: timestampFromDate(until) })) };
    },
  };
  return handlers;
}

function invalid(path: string, message: string): never {
  throw new ServiceError("invalid_request", { details: [{ path, message }] });
}
