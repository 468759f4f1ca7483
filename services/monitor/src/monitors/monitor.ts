import type { Check, CheckStatus } from "@vvs/checks";
import type { Environment } from "@vvs/tenant";
import { type FastClock, type Frequency, nextDueAt } from "../runs/schedule.ts";

/** A watched field that changed. Null means "no value". */
export interface FieldChange {
  /** <check>.<name>, such as sam_registration.registration_status. */
  readonly field: string;
  readonly previous: string | null;
  readonly current: string | null;
}

/** A monitor as stored. */
export interface MonitorDocument {
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  readonly checks: readonly Check[];
  readonly frequency: Frequency;
  /** URL that its events are sent to; absent: they are not sent. */
  readonly webhook_url?: string;
  /** Number of changes of the URL; absent before the first. */
  readonly url_version?: number;
  readonly status: "active" | "canceled";
  readonly created_at: Date;
  /** Id of the API key or the user that created it. */
  readonly created_by: string;
  /** W3C trace context of the call that created it. The traces of its runs link to it. */
  readonly traceparent?: string;
  /** The fields of the creation's answer that can change later. */
  readonly created_as: { readonly frequency: Frequency; readonly webhook_url?: string; readonly next_run_at: Date };
  /** Number of its newest run. */
  readonly run_seq: number;
  /** Due time of its newest run. */
  readonly last_due_at: Date;
  /** Due time of the next run; absent once canceled. */
  readonly next_run_at?: Date;
  /** When the next run may be claimed: at its due time, or when the open run times out. Absent once canceled. */
  readonly claimable_at?: Date;
  /** The newest run, until it ends. */
  readonly open_run?: { readonly run_seq: number; readonly claimed_at: Date };
  /** The newest run that has ended. */
  readonly last_run?: {
    readonly run_seq: number;
    readonly at: Date;
    readonly outcome: CheckStatus;
    readonly verification_id: string;
  };
  /** Number of consecutive runs that ended in error. */
  readonly consecutive_errors: number;
  /** Present while there are any: when the first of them ended, and whether the last one lacked data that the organization must supply. */
  readonly erring?: { readonly since: Date; readonly lacks_input: boolean };
  /** Number of events in its history. */
  readonly event_count: number;
  readonly canceled_at?: Date;
}

/** A run as stored, from its claim to its end. */
export interface RunDocument {
  /** <monitor id>:<run_seq>, also the id of the record that requests its verification. */
  readonly _id: string;
  readonly organization_id: string;
  readonly monitor_id: string;
  readonly run_seq: number;
  readonly claimed_at: Date;
  /** This and the following fields are absent until the run has ended. */
  readonly ended_at?: Date;
  readonly outcome?: CheckStatus;
  readonly verification_id?: string;
}

/** A detected change as stored in the history. Kept for ever. */
export interface EventDocument {
  readonly _id: string;
  readonly organization_id: string;
  readonly monitor_id: string;
  readonly entity_id: string;
  readonly run_seq: number;
  readonly verification_id: string;
  readonly changes: readonly FieldChange[];
  /** When the change was detected. Lists are ordered by it. */
  readonly created_at: Date;
  /** When the event was stored. Absent on events of older versions. */
  readonly recorded_at?: Date;
  /** Its number among the organization's events in the order in which they were stored, from 1 without gaps. Absent until numbered. */
  readonly position?: number;
}

/** Returns a monitor as it was right after its creation: the answer to a repeated creation. */
export function asCreated(monitor: MonitorDocument): MonitorDocument {
  const { last_run: _lastRun, erring: _erring, canceled_at: _canceledAt, webhook_url: _webhookUrl, ...rest } = monitor;
  return { ...rest, ...monitor.created_as, status: "active", consecutive_errors: 0 };
}

/** Returns when the next run may be claimed: once it is due, and the open run has ended or timed out. */
export function claimableAt(nextRunAt: Date, openRun: MonitorDocument["open_run"], runTimeoutMs: number): Date {
  if (!openRun) return nextRunAt;
  return new Date(Math.max(nextRunAt.getTime(), openRun.claimed_at.getTime() + runTimeoutMs));
}

/** Settings that the schedules of an environment's monitors depend on. */
export interface ScheduleOptions {
  readonly environment: Environment;
  readonly fastClock: FastClock;
  /** How long a run that has not ended delays the next one, in milliseconds. */
  readonly runTimeoutMs: number;
}

/** Returns when the run after the one of `last_due_at` is due, and when it may be claimed. */
export function nextRun(
  { environment, fastClock, runTimeoutMs }: ScheduleOptions,
  monitor: Pick<MonitorDocument, "_id" | "frequency" | "created_at" | "last_due_at" | "open_run">,
  now: Date,
) {
  const { _id: monitorId, frequency, created_at: createdAt, last_due_at: lastDueAt } = monitor;
  const next_run_at = nextDueAt({ monitorId, environment, frequency, createdAt, lastDueAt }, now, fastClock);
  return { next_run_at, claimable_at: claimableAt(next_run_at, monitor.open_run, runTimeoutMs) };
}

/** How a run ended. */
export interface RunEnd {
  readonly runSeq: number;
  readonly at: Date;
  readonly outcome: CheckStatus;
  readonly verificationId: string;
  /** Whether every check that ended in error lacked data that the organization must supply. */
  readonly lacksInput: boolean;
}

/**
 * Returns the monitor after the end of a run. Only the newest ended run sets `last_run` and the error count, in whatever
 * order the ends arrive. Once the open run has ended, the next one may be claimed at its due time.
 */
export function afterRun(monitor: MonitorDocument, end: RunEnd): MonitorDocument {
  const { open_run: openRun, ...rest } = monitor;
  const freed =
    openRun?.run_seq === end.runSeq
      ? { ...rest, ...(monitor.next_run_at && { claimable_at: monitor.next_run_at }) }
      : monitor;
  if (monitor.last_run && end.runSeq <= monitor.last_run.run_seq) return freed;
  const { erring, ...answered } = freed;
  const isError = end.outcome === "error";
  return {
    ...answered,
    ...(isError && { erring: { since: erring?.since ?? end.at, lacks_input: end.lacksInput } }),
    last_run: { run_seq: end.runSeq, at: end.at, outcome: end.outcome, verification_id: end.verificationId },
    consecutive_errors: isError ? monitor.consecutive_errors + 1 : 0,
  };
}
