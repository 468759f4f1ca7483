import type { CheckStatus } from "@vvs/checks";
import type { DataDates, MonitorDocument } from "../model/monitor.ts";
import { claimableAt, exclusionRunAt, expiryRunAt } from "../model/next-run.ts";
import { changeChecked, stands, withPlace } from "../sweep/standing.ts";

/** How a run ended. */
export interface RunEnd {
  readonly runSeq: number;
  readonly at: Date;
  readonly outcome: CheckStatus;
  readonly verificationId: string;
  /** Absent if its sam_registration learned nothing, or it has none. */
  readonly dataAsOf?: DataDates | undefined;
  /** The digest of its sam_registration, in hex; absent where that learned nothing, in the sandbox, and from older versions. */
  readonly digest?: string | undefined;
  /** Whether every check that ended in error lacked data that the organization must supply. */
  readonly lacksInput: boolean;
  /** Whether its sam_registration lacked the vendor's UEI and CAGE. */
  readonly lacksIdentifier: boolean;
  /** The registration's expiration date (YYYY-MM-DD), or empty if it has none; undefined if the run did not learn it. */
  readonly expirationDate: string | undefined;
  /** The first days (YYYY-MM-DD) of the vendor's exclusions; undefined if the run did not learn its exclusions. */
  readonly exclusionDays: readonly string[] | undefined;
}

/**
 * Returns the monitor after the end of a run. Ends may arrive in any order: only the newest ended run sets `last_run`, the
 * error count, the extra runs after the expiration date and on the first day of an exclusion, and whether the monitor stands. Once the open run has ended, the next one may be claimed at its
 * due time.
 */
export function afterRun(
  monitor: MonitorDocument,
  end: RunEnd,
  { runTimeoutMs, now }: { runTimeoutMs: number; now: Date },
): MonitorDocument {
  const isOpen = monitor.open_run?.run_seq === end.runSeq;
  const isNewest = !monitor.last_run || end.runSeq > monitor.last_run.run_seq;
  if (!isOpen && !isNewest) return monitor;
  const { open_run, claimable_at: _, ...rest } = isNewest ? withEnd(monitor, end) : monitor;
  const freed = { ...rest, ...(!isOpen && open_run && { open_run }) };
  const claimable_at = claimableAt(freed, runTimeoutMs);
  return withPlace({ ...freed, ...(claimable_at && { claimable_at }) }, now);
}

function withEnd(monitor: MonitorDocument, end: RunEnd): MonitorDocument {
  const { erring, standing: _, expiry_run_at: expiryBefore, exclusion_run_at: exclusionBefore, ...lasting } = monitor;
  const { published_frequency, unwatched: wasUnwatched, ...known } = lasting;
  const isUnwatched = end.lacksIdentifier || (wasUnwatched && !end.dataAsOf);
  const { expirationDate: date, exclusionDays: days, digest } = end;
  const expiry_run_at = date === undefined ? expiryBefore : expiryRunAt(monitor._id, date, end.at);
  const exclusion_run_at = days === undefined ? exclusionBefore : exclusionRunAt(monitor._id, days, end.at);
  const isError = end.outcome === "error";
  const { runSeq: run_seq, at, outcome, verificationId: verification_id, dataAsOf: data_as_of } = end;
  return {
    ...known,
    ...(isUnwatched && { unwatched: true }),
    // Where the vendor has its UEI or CAGE only now, the state is published again for verification.
    ...(published_frequency && (isUnwatched || !wasUnwatched) && { published_frequency }),
    ...(expiry_run_at && { expiry_run_at }),
    ...(exclusion_run_at && { exclusion_run_at }),
    ...(isError && { erring: { since: erring?.since ?? end.at, lacks_input: end.lacksInput } }),
    last_run: { run_seq, at, outcome, verification_id, ...(data_as_of && { data_as_of }), ...(digest && { digest }) },
    ...(stands(monitor, end) && { standing: { run_seq, since: at, ...changeChecked(monitor, end) } }),
    consecutive_errors: isError ? monitor.consecutive_errors + 1 : 0,
  };
}
