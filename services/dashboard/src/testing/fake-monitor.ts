import { type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import {
  CancelMonitorRequestSchema,
  type ConfirmedRunSchema,
  CreateMonitorRequestSchema,
  type EventSchema,
  Frequency,
  ListConfirmedRunsRequestSchema,
  ListMonitorsRequestSchema,
  type MonitorSchema,
  MonitorService,
  UpdateMonitorRequestSchema,
} from "@vvs/proto/monitor/v1/monitor";
import { type Handlers, onlyFor } from "@vvs/rpc";
import { ENTITY_ID } from "./fake-entity.ts";
import { type FakeState, failIfAsked } from "./fake-state.ts";
import { VERIFICATION_ID } from "./fake-verification.ts";

export const MONITOR_ID = "mon_01m7ygvppkenma4hm7yf5h5159";
export const EVENT_ID = "evt_01m7ygvppkf9m8p9ecpfzd1xaj";

// Not a message itself: its type would not accept plain objects as parts.
type Monitor = Exclude<MessageInitShape<typeof MonitorSchema>, { $typeName: string }>;
type ConfirmedRun = Exclude<MessageInitShape<typeof ConfirmedRunSchema>, { $typeName: string }>;
type Event = Exclude<MessageInitShape<typeof EventSchema>, { $typeName: string }>;

const at = timestampFromDate(new Date("2026-11-21T07:41:46.067Z"));

/** A monitor as the service sends it. */
export function monitorOf(changes: Monitor = {}): Monitor {
  return {
    id: MONITOR_ID,
    entityId: ENTITY_ID,
    checks: [CheckType.SAM_REGISTRATION],
    frequency: Frequency.DAILY,
    webhookUrl: "https://hooks.acme.example/vendors",
    status: "active",
    createdAt: at,
    lastRun: { at, outcome: CheckStatus.PASS, verificationId: VERIFICATION_ID },
    nextRunAt: timestampFromDate(new Date("2026-11-22T07:41:46.067Z")),
    consecutiveErrors: 0,
    ...changes,
  };
}

/** A run that scheduled checks confirmed twelve times, on 6 October 2026 last. */
export function confirmedRunOf(changes: ConfirmedRun = {}): ConfirmedRun {
  const day = (text: string) => timestampFromDate(new Date(text));
  return {
    entityId: ENTITY_ID,
    monitorId: MONITOR_ID,
    verificationId: VERIFICATION_ID,
    outcome: CheckStatus.PASS,
    at: day("2026-09-24T09:30:00Z"),
    confirmed: {
      times: 12,
      lastAt: day("2026-10-06T14:00:00Z"),
      dataAsOf: { registration: day("2026-10-05T00:00:00Z"), exclusions: day("2026-10-06T00:00:00Z") },
    },
    ...changes,
  };
}

/** An event as the service sends it. */
export function eventOf(changes: Event = {}): Event {
  return {
    id: EVENT_ID,
    monitorId: MONITOR_ID,
    changes: [{ field: "sam_registration.registration_status", previous: "active", current: "expired" }],
    verificationId: VERIFICATION_ID,
    detectedAt: at,
    ...changes,
  };
}

/** Simulates the monitor service. */
export function monitorService(state: FakeState) {
  const note = (method: string, json: string) => {
    failIfAsked(state, method);
    state.calls.push(`${method} ${json}`);
  };
  const find = (monitorId: string) => {
    const monitor = state.monitors.find(({ id }) => id === monitorId);
    if (!monitor) throw new ServiceError("monitor_not_found");
    return monitor;
  };
  const handlers: Handlers<typeof MonitorService> = {
    async createMonitor(request) {
      note("createMonitor", toJsonString(CreateMonitorRequestSchema, request));
      failIfAsked(state, `createMonitor ${request.externalId}`);
      await state.gate;
      return { monitor: monitorOf() };
    },
    async getMonitor({ monitorId }) {
      failIfAsked(state, "getMonitor");
      return { monitor: find(monitorId) };
    },
    async countMonitors() {
      failIfAsked(state, "countMonitors");
      return { active: state.monitors.length };
    },
    async listMonitors(request) {
      note("listMonitors", toJsonString(ListMonitorsRequestSchema, request));
      const found = state.monitors.filter(
        (each) => request.externalId === "" || each.externalId === request.externalId,
      );
      const last = found.at(-1);
      return { monitors: found, next: state.hasOlder && last ? { createdAt: at, id: last.id! } : undefined };
    },
    async updateMonitor(request) {
      note("updateMonitor", toJsonString(UpdateMonitorRequestSchema, request));
      return { monitor: find(request.monitorId) };
    },
    async cancelMonitor(request) {
      note("cancelMonitor", toJsonString(CancelMonitorRequestSchema, request));
      return { monitor: { ...find(request.monitorId), status: "canceled" } };
    },
    async listEvents() {
      failIfAsked(state, "listEvents");
      const last = state.events.at(-1);
      return { events: state.events, next: state.hasOlder && last ? { createdAt: at, id: last.id! } : undefined };
    },
    async listRuns() {
      failIfAsked(state, "listRuns");
      return { runs: state.runs };
    },
    async listConfirmedRuns(request) {
      note("listConfirmedRuns", toJsonString(ListConfirmedRunsRequestSchema, request));
      return { runs: state.confirmedRuns.filter(({ entityId }) => request.entityIds.includes(entityId!)) };
    },
    async listEventsAfter() {
      throw new Error("not called by the dashboard");
    },
    async getNewestPosition() {
      throw new Error("not called by the dashboard");
    },
    async releaseVerifications() {
      throw new Error("not called by the dashboard");
    },
  };
  return { service: MonitorService, handlers, callers: onlyFor(MonitorService, "dashboard") };
}
