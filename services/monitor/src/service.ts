import { ServiceError } from "@vvs/errors";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { Frequency as ProtoFrequency } from "@vvs/proto/monitor/v1/monitor";
import type { Callers, Handlers } from "@vvs/rpc";
import { callerOf, type Environment, type Tenant } from "@vvs/tenant";
import type { EventHistory } from "./event-history.ts";
import { eventMessage, monitorMessage } from "./messages.ts";
import type { MonitorLife } from "./monitor-life.ts";
import { checkOf, frequencyOf, statusOf } from "./names.ts";
import type { MonitorStore } from "./store.ts";

type Service = typeof MonitorService;

const FRONTS = ["gateway", "dashboard"];

/** Who may call what. */
export const monitorCallers: Callers<Service> = {
  createMonitor: FRONTS,
  getMonitor: FRONTS,
  listMonitors: FRONTS,
  countMonitors: ["dashboard"],
  updateMonitor: FRONTS,
  cancelMonitor: FRONTS,
  listEvents: FRONTS,
};

/** What serves one environment. */
export interface MonitorWorld {
  readonly store: MonitorStore;
  readonly history: EventHistory;
  readonly life: MonitorLife;
}

/** The handlers of the gRPC service: messages in, messages out, everything else is the environment's. */
export function createMonitorHandlers(worlds: Readonly<Record<Environment, MonitorWorld>>): Handlers<Service> {
  const worldOf = (tenant: Tenant) => worlds[tenant.environment];

  async function found(tenant: Tenant, id: string) {
    const monitor = await worldOf(tenant).store.find(tenant, id);
    if (!monitor) throw new ServiceError("monitor_not_found");
    return monitor;
  }

  return {
    async createMonitor(request) {
      const caller = callerOf(request.caller);
      const checks = request.checks.map((check) => checkOf(check) ?? invalid("checks", "must be known checks"));
      if (checks.length === 0) invalid("checks", "must name at least one check");
      const { value, replayed } = await worldOf(caller.tenant).life.create(caller, {
        entityId: request.entityId,
        checks: [...new Set(checks)],
        frequency: frequencyOf(request.frequency) ?? invalid("frequency", "must be a known frequency"),
        webhookUrl: request.webhookUrl,
        activeLimit: request.activeLimit,
        idempotency: request.idempotency,
      });
      return { monitor: monitorMessage(value), replayed };
    },
    async getMonitor(request) {
      const { tenant } = callerOf(request.caller);
      return { monitor: monitorMessage(await found(tenant, request.monitorId)) };
    },
    async listMonitors(request) {
      const { tenant } = callerOf(request.caller);
      const { entityId, canceled, lastOutcome } = request;
      const filter = {
        status: canceled ? "canceled" : "active",
        entityId,
        lastOutcome: statusOf(lastOutcome),
      } as const;
      const { items, next } = await worldOf(tenant).store.list(tenant, filter, request.page);
      return { monitors: items.map(monitorMessage), next };
    },
    async countMonitors(request) {
      const { tenant } = callerOf(request.caller);
      return { active: await worldOf(tenant).store.activeMonitors(tenant) };
    },
    async updateMonitor(request) {
      const { tenant } = callerOf(request.caller);
      const frequency =
        request.frequency === ProtoFrequency.UNSPECIFIED
          ? undefined
          : (frequencyOf(request.frequency) ?? invalid("frequency", "must be a known frequency"));
      const change = { frequency, webhookUrl: request.webhookUrl || undefined };
      return { monitor: monitorMessage(await worldOf(tenant).life.update(tenant, request.monitorId, change)) };
    },
    async cancelMonitor(request) {
      const { tenant } = callerOf(request.caller);
      return { monitor: monitorMessage(await worldOf(tenant).life.cancel(tenant, request.monitorId)) };
    },
    async listEvents(request) {
      const { tenant } = callerOf(request.caller);
      const monitorId = request.monitorId || undefined;
      if (monitorId) await found(tenant, monitorId);
      const { items, next } = await worldOf(tenant).history.list(tenant, monitorId, request.page);
      return { events: items.map(eventMessage), next };
    },
  };
}

function invalid(path: string, message: string): never {
  throw new ServiceError("invalid_request", { details: [{ path, message }] });
}
