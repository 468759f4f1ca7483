import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import {
  type ConfirmedRunSchema,
  type EventSchema,
  Frequency,
  type MonitorSchema,
  MonitorService,
} from "@vvs/proto/monitor/v1/monitor";
import { ENTITY_ID } from "./fake-entity.ts";
import { fakePart, findIn } from "./fake-part.ts";
import { type FakeState, type Fields, failIfAsked } from "./fake-state.ts";
import { VERIFICATION_ID } from "./fake-verification.ts";

export const MONITOR_ID = "mon_01m7ygvppkenma4hm7yf5h5159";
export const EVENT_ID = "evt_01m7ygvppkf9m8p9ecpfzd1xaj";

type Monitor = Fields<typeof MonitorSchema>;
type ConfirmedRun = Fields<typeof ConfirmedRunSchema>;
type Event = Fields<typeof EventSchema>;

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
    entityId: ENTITY_ID,
    changes: [{ field: "sam_registration.registration_status", previous: "active", current: "expired" }],
    verificationId: VERIFICATION_ID,
    detectedAt: at,
    ...changes,
  };
}

/** Simulates the monitor service. */
export function monitorPart(state: FakeState) {
  const find = (monitorId: string) => findIn(state.monitors, monitorId, "monitor_not_found");
  const nextOf = (last: { readonly id?: string } | undefined) =>
    state.hasOlder && last ? { createdAt: at, id: last.id! } : undefined;
  return fakePart(MonitorService, state, {
    recorded: {
      async createMonitor({ externalId }) {
        failIfAsked(state, `createMonitor ${externalId}`);
        await state.gate;
        return { monitor: monitorOf() };
      },
      async listMonitors({ externalId }) {
        const monitors = state.monitors.filter((each) => externalId === "" || each.externalId === externalId);
        return { monitors, next: nextOf(monitors.at(-1)) };
      },
      updateMonitor: async ({ monitorId }) => ({ monitor: find(monitorId) }),
      cancelMonitor: async ({ monitorId }) => ({ monitor: { ...find(monitorId), status: "canceled" } }),
      async listConfirmedRuns({ entityIds }) {
        return { runs: state.confirmedRuns.filter(({ entityId }) => entityIds.includes(entityId!)) };
      },
    },
    quiet: {
      getMonitor: async ({ monitorId }) => ({ monitor: find(monitorId) }),
      countMonitors: async () => ({ active: state.monitors.length }),
      listEvents: async () => ({ events: state.events, next: nextOf(state.events.at(-1)) }),
      listRuns: async () => ({ runs: state.runs }),
    },
  });
}
