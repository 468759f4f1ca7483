import type { CheckStatus } from "@vvs/checks";
import { claimableAt, exclusionRunAt, expiryRunAt } from "./due.ts";
import type { DataDates, MonitorDocument } from "./monitor.ts";

/** How a run ended. */
export interface RunEnd {
  readonly runSeq: number;
  readonly at: Date;
  readonly outcome: CheckStatus;
  readonly verificationId: string;
  /** Absent if its sam_registration learned nothing, or it has none. */
  readonly dataAsOf?: DataDates | undefined;
  /** Whether every check that ended in error lacked data that the organization must supply. */
  readonly lacksInput: boolean;
  /** The registration's expiration date (YYYY-MM-DD), or empty if it has none; undefined if the run did not learn it. */
  readonly expirationDate: string | undefined;
  /** The first days (YYYY-MM-DD) of the vendor's exclusions; undefined if the run did not learn its exclusions. */
  readonly exclusionDays: readonly string[] | undefined;
}

/**
 * Returns the monitor after the end of a run. Ends may arrive in any order: only the newest ended run sets `last_run`, the
 * error count and the extra runs after the expiration date and on the first day of an exclusion. Once the open run has ended, the next one may be claimed at its
 * due time.
 */
export function afterRun(monitor: MonitorDocument, end: RunEnd, runTimeoutMs: number): MonitorDocument {
  const isOpen = monitor.open_run?.run_seq === end.runSeq;
  const isNewest = !monitor.last_run || end.runSeq > monitor.last_run.run_seq;
  if (!isOpen && !isNewest) return monitor;
  const { open_run, claimable_at: _, ...rest } = isNewest ? withEnd(monitor, end) : monitor;
  const freed = { ...rest, ...(!isOpen && open_run && { open_run }) };
  const claimable_at = claimableAt(freed, runTimeoutMs);
  return { ...freed, ...(claimable_at && { claimable_at }) };
}

function withEnd(monitor: MonitorDocument, end: RunEnd): MonitorDocument {
  const { erring, expiry_run_at: expiryBefore, exclusion_run_at: exclusionBefore, ...answered } = monitor;
  const { expirationDate: date, exclusionDays: days } = end;
  const expiry_run_at = date === undefined ? expiryBefore : expiryRunAt(monitor._id, date, end.at);
  const exclusion_run_at = days === undefined ? exclusionBefore : exclusionRunAt(monitor._id, days, end.at);
  const isError = end.outcome === "error";
  const { runSeq: run_seq, at, outcome, verificationId: verification_id, dataAsOf: data_as_of } = end;
  return {
    ...answered,
    ...(expiry_run_at && { expiry_run_at }),
    ...(exclusion_run_at && { exclusion_run_at }),
    ...(isError && { erring: { since: erring?.since ?? end.at, lacks_input: end.lacksInput } }),
    last_run: { run_seq, at, outcome, verification_id, ...(data_as_of && { data_as_of }) },
    consecutive_errors: isError ? monitor.consecutive_errors + 1 : 0,
  };
}
