import { type DataDates, type Event, Frequency, type Monitor, type Run, RunCause } from "@vvs/proto/monitor/v1/monitor";
import { renderCheck, renderStatus, renderTime } from "./values.ts";

/** How often a monitor runs, by the names that clients use. */
export const frequencies = {
  hourly: Frequency.HOURLY,
  daily: Frequency.DAILY,
  weekly: Frequency.WEEKLY,
  monthly: Frequency.MONTHLY,
} as const;

export type FrequencyName = keyof typeof frequencies;

export const frequencyNames = Object.keys(frequencies) as [FrequencyName, ...FrequencyName[]];

/** The public Monitor. */
export function renderMonitor(monitor: Monitor) {
  return {
    id: monitor.id,
    entity_id: monitor.entityId,
    checks: monitor.checks.map(renderCheck),
    frequency: nameOf(frequencies, monitor.frequency),
    webhook_url: monitor.webhookUrl || undefined,
    external_id: monitor.externalId || undefined,
    status: monitor.status,
    created_at: renderTime(monitor.createdAt),
    last_run: monitor.lastRun && {
      at: renderTime(monitor.lastRun.at),
      outcome: renderStatus(monitor.lastRun.outcome),
      verification_id: monitor.lastRun.verificationId,
      data_as_of: renderDates(monitor.lastRun.dataAsOf),
    },
    next_run_at: renderTime(monitor.nextRunAt),
    stale_since: renderTime(monitor.staleSince),
    consecutive_errors: monitor.consecutiveErrors,
  };
}

/** Why a run was made, by the names that clients use. */
const causes = {
  first: RunCause.FIRST,
  schedule: RunCause.SCHEDULE,
  file: RunCause.FILE,
  expiry: RunCause.EXPIRY,
  exclusion: RunCause.EXCLUSION,
  answer: RunCause.ANSWER,
} as const;

type CauseName = keyof typeof causes;

export const causeNames = Object.keys(causes) as [CauseName, ...CauseName[]];

/** The public Run. */
export function renderRun({ at, outcome, verificationId, cause, confirmed }: Run) {
  return {
    at: renderTime(at),
    outcome: renderStatus(outcome),
    verification_id: verificationId,
    cause: nameOf(causes, cause),
    confirmed: confirmed && {
      times: confirmed.times,
      last_at: renderTime(confirmed.lastAt),
      data_as_of: renderDates(confirmed.dataAsOf),
    },
  };
}

function renderDates(dates: DataDates | undefined) {
  return dates && { registration: renderTime(dates.registration), exclusions: renderTime(dates.exclusions) };
}

/** The public Event: its webhook without delivered_at. "No value" is an empty text here (and null in the webhook). */
export function renderEvent(event: Event) {
  const detectedAt = renderTime(event.detectedAt);
  return {
    id: event.id,
    event: "monitor.change_detected",
    monitor_id: event.monitorId,
    entity_id: event.entityId,
    external_id: event.externalId || undefined,
    changes: event.changes.map(({ field, previous, current }) => ({
      field,
      previous: previous ?? "",
      current: current ?? "",
      detected_at: detectedAt,
    })),
    verification_id: event.verificationId,
    detected_at: detectedAt,
  };
}

function nameOf<Name extends string>(values: Readonly<Record<Name, number>>, value: number): Name {
  const name = (Object.keys(values) as Name[]).find((candidate) => values[candidate] === value);
  if (!name) throw new Error(`unknown value ${value}`);
  return name;
}
