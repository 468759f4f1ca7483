import type { Frequency } from "./schedule.ts";

export type Check = "sam_registration" | "tin_match";
export type CheckStatus = "pass" | "fail" | "error";

/** One watched field that changed. */
export interface FieldChange {
  /** <check>.<name>, such as sam_registration.registration_status. */
  readonly field: string;
  readonly previous: string | null;
  readonly current: string | null;
}

/** A monitor as it is stored. */
export interface MonitorDocument {
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  readonly checks: readonly Check[];
  readonly frequency: Frequency;
  readonly webhook_url: string;
  readonly status: "active" | "canceled";
  readonly created_at: Date;
  /** Who created it. */
  readonly created_by: string;
  /** W3C trace context of the call that created it: the traces of its runs link to it. */
  readonly traceparent?: string;
  /** What the creation was answered with, where it can change later. */
  readonly created_as: { readonly frequency: Frequency; readonly webhook_url: string; readonly next_run_at: Date };
  /** The number of its newest run. */
  readonly run_seq: number;
  /** When that one was due. */
  readonly last_due_at: Date;
  /** When the next one is due; absent once canceled. */
  readonly next_run_at?: Date;
  /** When the next one may be claimed: when it is due, or when the open run has had its time. Absent once canceled. */
  readonly claimable_at?: Date;
  /** The newest run, as long as it has not ended. */
  readonly open_run?: { readonly run_seq: number; readonly claimed_at: Date };
  /** The newest run that has ended. */
  readonly last_run?: {
    readonly run_seq: number;
    readonly at: Date;
    readonly outcome: CheckStatus;
    readonly verification_id: string;
  };
  /** Runs in a row that ended in error. */
  readonly consecutive_errors: number;
  /** Events in its history. */
  readonly event_count: number;
  readonly canceled_at?: Date;
}

/** A run, from its claim to its end. */
export interface RunDocument {
  /** <monitor id>:<run_seq>, also the id of the record that asks for it. */
  readonly _id: string;
  readonly organization_id: string;
  readonly monitor_id: string;
  readonly run_seq: number;
  readonly claimed_at: Date;
  /** The rest is absent until it has ended. */
  readonly ended_at?: Date;
  readonly outcome?: CheckStatus;
  readonly verification_id?: string;
}

/** A change that was detected, as the history keeps it for ever. */
export interface EventDocument {
  readonly _id: string;
  readonly organization_id: string;
  readonly monitor_id: string;
  readonly entity_id: string;
  readonly run_seq: number;
  readonly verification_id: string;
  readonly changes: readonly FieldChange[];
  /** When it was detected; what lists are ordered by. */
  readonly created_at: Date;
}

/** A monitor as its creation was answered, whatever became of it since: what a repeated creation is answered with. */
export function asCreated(monitor: MonitorDocument): MonitorDocument {
  const { last_run: _lastRun, canceled_at: _canceledAt, ...rest } = monitor;
  return { ...rest, ...monitor.created_as, status: "active", consecutive_errors: 0 };
}

/** When the next run may be claimed: once it is due, and not while an open run still has time to end. */
export function claimableAt(nextRunAt: Date, openRun: MonitorDocument["open_run"], runTimeoutMs: number): Date {
  if (!openRun) return nextRunAt;
  return new Date(Math.max(nextRunAt.getTime(), openRun.claimed_at.getTime() + runTimeoutMs));
}

/** How a run ended. */
export interface RunEnd {
  readonly runSeq: number;
  readonly at: Date;
  readonly outcome: CheckStatus;
  readonly verificationId: string;
}

/**
 * What the end of a run changes. The newest ended run counts, whatever the order in which ends arrive; an older one that
 * ends late only ends. The next run is free to be claimed as soon as it is due once the open one has ended.
 */
export function afterRun(monitor: MonitorDocument, end: RunEnd): MonitorDocument {
  const { open_run: openRun, ...rest } = monitor;
  const freed =
    openRun?.run_seq === end.runSeq
      ? { ...rest, ...(monitor.next_run_at && { claimable_at: monitor.next_run_at }) }
      : monitor;
  if (monitor.last_run && end.runSeq <= monitor.last_run.run_seq) return freed;
  return {
    ...freed,
    last_run: { run_seq: end.runSeq, at: end.at, outcome: end.outcome, verification_id: end.verificationId },
    consecutive_errors: end.outcome === "error" ? monitor.consecutive_errors + 1 : 0,
  };
}
