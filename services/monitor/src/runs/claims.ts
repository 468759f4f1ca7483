import { context } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { MonitorDocument } from "../model/monitor.ts";
import { afterClaim, afterSkip, earliestDue, type ScheduleOptions } from "../model/next-run.ts";
import type { MonitorStore } from "../store.ts";
import type { RunMetrics } from "./run-metrics.ts";
import { type RunTrace, startRunTrace } from "./run-trace.ts";
import type { ClaimedRun, Runs } from "./runs.ts";

/** Maximum duration of a transaction that claims, in milliseconds. */
const COMMIT_MS = 5_000;

/** A due monitor as it was read, and as the claim leaves it. */
interface Claim {
  readonly seen: MonitorDocument;
  readonly next: MonitorDocument;
  /** Absent where the run is skipped. */
  readonly begun?: { readonly run: ClaimedRun; readonly trace: RunTrace };
}

/** What became of due monitors. */
export interface ClaimResult {
  readonly claimed: number;
  /** Monitors whose schedule was no longer the one that was read. */
  readonly lost: readonly string[];
  /** Monitors whose claim was refused. */
  readonly failed: readonly string[];
}

export type Claims = ReturnType<typeof createClaims>;

/**
 * Claims due monitors of one organization. A claim only succeeds if the monitor's schedule is still the one that was read,
 * so each run is claimed once, and none after a cancellation.
 */
export function createClaims(
  options: ScheduleOptions & {
    readonly client: MongoClient;
    readonly store: MonitorStore;
    readonly runs: Runs;
    readonly metrics: RunMetrics;
    readonly now: () => Date;
    readonly logger: Logger;
  },
) {
  const { environment, client, store, runs, metrics, now, logger } = options;

  function toStart(tenant: Tenant, seen: MonitorDocument, at: Date): Claim {
    const next = afterClaim(options, seen, at);
    const trace = startRunTrace(next);
    return {
      seen,
      next,
      begun: { run: context.with(trace.context, () => runs.claimed(tenant, next, earliestDue(seen)!.cause)), trace },
    };
  }

  function toSkip(_tenant: Tenant, seen: MonitorDocument, at: Date): Claim {
    return { seen, next: afterSkip(options, seen, at) };
  }

  /** Writes all claims, or none and returns false if a schedule has changed. */
  function commit(tenant: Tenant, claims: readonly Claim[]): Promise<boolean> {
    const write = async (session: ClientSession) => {
      if ((await store.replaceScheduled(tenant, session, claims)) < claims.length) {
        await session.abortTransaction();
        return false;
      }
      const begun = claims.flatMap((claim) => claim.begun?.run ?? []);
      await runs.begin(session, begun);
      return true;
    };
    // No retry while another transaction holds a monitor, so that other monitors do not wait.
    return inTransaction(client, write, { retry: false, backgroundMs: COMMIT_MS });
  }

  function report({ seen, next, begun }: Claim): void {
    if (!begun) return;
    begun.trace.span.end();
    const ids = { environment, organization_id: seen.organization_id, monitor_id: seen._id, run_seq: next.run_seq };
    const superseded = seen.open_run && { superseded_run_seq: seen.open_run.run_seq };
    if (superseded) metrics.superseded();
    const { cause, at: due_at } = earliestDue(seen)!;
    metrics.claimed(cause, next.open_run!.claimed_at.getTime() - due_at.getTime());
    logger.info({ ...ids, cause, due_at, ...superseded }, "run started");
  }

  async function attempt(
    tenant: Tenant,
    due: readonly MonitorDocument[],
    prepare: typeof toStart,
  ): Promise<"claimed" | "lost" | { readonly error: unknown }> {
    try {
      const at = now();
      const claims = due.map((seen) => prepare(tenant, seen, at));
      if (!(await commit(tenant, claims))) return "lost";
      for (const claim of claims) report(claim);
      return "claimed";
    } catch (error) {
      return { error };
    }
  }

  /** Claims each monitor by itself, so that one that can't be claimed does not hold up the others. */
  async function oneByOne(
    tenant: Tenant,
    due: readonly MonitorDocument[],
    prepare: typeof toStart,
    untilMs: number,
  ): Promise<ClaimResult> {
    const lost: string[] = [];
    const failed: string[] = [];
    let claimed = 0;
    for (const monitor of due) {
      if (performance.now() > untilMs) break;
      const result = await attempt(tenant, [monitor], prepare);
      if (result === "claimed") claimed += 1;
      else if (result === "lost") {
        lost.push(monitor._id);
        metrics.failed("changed");
      } else {
        failed.push(monitor._id);
        metrics.failed("refused");
        const ids = { environment, organization_id: monitor.organization_id, monitor_id: monitor._id };
        logger.warn({ ...ids, err: result.error }, "a due monitor can't be claimed; trying again later");
      }
    }
    return { claimed, lost, failed };
  }

  async function claim(
    tenant: Tenant,
    due: readonly MonitorDocument[],
    prepare: typeof toStart,
    untilMs: number,
  ): Promise<ClaimResult> {
    if (due.length > 1 && (await attempt(tenant, due, prepare)) === "claimed")
      return { claimed: due.length, lost: [], failed: [] };
    return oneByOne(tenant, due, prepare, untilMs);
  }

  return {
    /** Starts the due runs: in one transaction or, if that fails, each by itself, until `untilMs` of `performance.now`. */
    start: (tenant: Tenant, due: readonly MonitorDocument[], untilMs: number): Promise<ClaimResult> =>
      claim(tenant, due, toStart, untilMs),

    /** Moves due monitors to their next due time without a run, in the same way. */
    skip: (tenant: Tenant, due: readonly MonitorDocument[], untilMs: number): Promise<ClaimResult> =>
      claim(tenant, due, toSkip, untilMs),
  };
}
