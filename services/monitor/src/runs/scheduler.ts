import { metrics } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import { superviseLoop } from "@vvs/retry";
import type { ClientSession, MongoClient } from "mongodb";
import { type MonitorDocument, nextRun, type ScheduleOptions } from "../monitors/monitor.ts";
import { ifUnavailable, type MonitorStore } from "../store.ts";
import { inRunTrace } from "./run-trace.ts";
import type { Runs } from "./runs.ts";

/** Maximum number of due monitors read at a time. */
const BATCH = 50;
/** Maximum number of claims made at the same time. */
const CONCURRENT_CLAIMS = 5;

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Starts the runs that are due. Replicas share the work without coordination: a claim only succeeds if the monitor's
 * schedule is still the one that was read, so each run is claimed once, and none after a cancellation.
 */
export function createScheduler(
  options: ScheduleOptions & {
    readonly client: MongoClient;
    readonly store: MonitorStore;
    readonly runs: Runs;
    /** Returns whether the organization is suspended. Its monitors do not run. */
    readonly isSuspended: (organizationId: string) => boolean;
    readonly now: () => Date;
    readonly logger: Logger;
  },
) {
  const { environment, store, now, logger } = options;
  const meter = metrics.getMeter("monitor");
  const claims = meter.createCounter("monitor_runs_claimed", { description: "Monitor runs started." });
  const lateness = meter.createHistogram("monitor_run_lateness", {
    unit: "s",
    description:
      "Time between a run's due time and its start. If it grows, there are too few replicas or MongoDB is slow.",
    advice: { explicitBucketBoundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600] },
  });
  const overdue = meter.createCounter("monitor_runs_timed_out", {
    description:
      "Runs that had not ended when the next one started. A sustained value means that verifications do not run.",
  });

  async function claim(seen: MonitorDocument): Promise<boolean> {
    const at = now();
    const open_run = { run_seq: seen.run_seq + 1, claimed_at: at };
    const claimed = { ...seen, run_seq: open_run.run_seq, open_run, last_due_at: seen.next_run_at! };
    const monitor = { ...claimed, ...nextRun(options, claimed, at) };
    const tenant = { organizationId: seen.organization_id, environment };
    const begin = async (session: ClientSession) => {
      if (!(await store.replaceScheduled(tenant, session, seen, monitor))) return false;
      await options.runs.begin(session, [options.runs.claimed(tenant, monitor)]);
      return true;
    };
    // No retry while another transaction holds the monitor, so that other monitors do not wait. The next batch has it again.
    const done = await inRunTrace(monitor, () =>
      inTransaction(options.client, begin, { retry: false }).catch(ifUnavailable(false)),
    );
    if (!done) return false;
    claims.add(1, { environment });
    lateness.record(Math.max(0, at.getTime() - seen.next_run_at!.getTime()) / 1_000, { environment });
    const ids = { environment, organization_id: seen.organization_id, monitor_id: seen._id, run_seq: monitor.run_seq };
    if (seen.open_run) {
      overdue.add(1, { environment });
      logger.warn({ ...ids, open_run_seq: seen.open_run.run_seq }, "run did not end in time; starting the next one");
    }
    logger.info({ ...ids, due_at: seen.next_run_at }, "run started");
    return true;
  }

  /** Moves a due monitor to its next due time without a run. */
  async function skip(seen: MonitorDocument): Promise<void> {
    const tenant = { organizationId: seen.organization_id, environment };
    const skipped = { ...seen, last_due_at: seen.next_run_at! };
    const monitor = { ...skipped, ...nextRun(options, skipped, now()) };
    await inTransaction(options.client, (session) => store.replaceScheduled(tenant, session, seen, monitor));
  }

  return {
    /** Claims due runs, at most one batch. Returns the number of monitors read and the number of runs claimed. */
    async claimDue(): Promise<{ due: number; claimed: number }> {
      const due = shuffled(await store.claimable(now(), BATCH));
      let count = 0;
      const work = due[Symbol.iterator]();
      const worker = async () => {
        for (const monitor of work) {
          if (options.isSuspended(monitor.organization_id)) await skip(monitor);
          else if (await claim(monitor)) count++;
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT_CLAIMS }, worker));
      return { due: due.length, claimed: count };
    },
  };
}

/** Claims runs until stopped, and retries while MongoDB fails. Resolves when the claims in progress are done. */
export function runScheduler(
  scheduler: Scheduler,
  options: { pollMs: number; onClaimed: () => void; signal: AbortSignal; logger: Logger },
): Promise<void> {
  const { pollMs, onClaimed, signal, logger } = options;
  const loop = superviseLoop({
    async round() {
      const { due, claimed } = await scheduler.claimDue();
      if (claimed > 0) onClaimed();
      return due < BATCH || claimed === 0 ? pollMs : 0;
    },
    failure: "starting due runs fails; retrying",
    recovery: "starting due runs succeeds again",
    stopping: signal,
    logger,
  });
  return loop.ended();
}

/** Returns the items in random order, so that replicas with the same batch rarely try the same monitor. */
function shuffled<T>(items: readonly T[]): T[] {
  const placed = items.map((item) => ({ item, place: Math.random() }));
  return placed.sort((left, right) => left.place - right.place).map(({ item }) => item);
}
