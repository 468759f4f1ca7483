import { setTimeout as wait } from "node:timers/promises";
import { metrics } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import type { Environment } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { claimableAt, type MonitorDocument } from "./monitor.ts";
import { inRunTrace } from "./run-trace.ts";
import type { Runs } from "./runs.ts";
import { type FastClock, nextDueAt } from "./schedule.ts";
import type { MonitorStore } from "./store.ts";

/** Monitors looked at in one go, and claims made at once. */
const BATCH = 50;
const CLAIMS_AT_ONCE = 5;
const RETRY_MS = 1_000;

export interface SchedulerOptions {
  readonly environment: Environment;
  readonly client: MongoClient;
  readonly store: MonitorStore;
  readonly runs: Runs;
  readonly fastClock: FastClock;
  /** How long a run that has not ended holds back the next one. */
  readonly runTimeoutMs: number;
  readonly now: () => Date;
  readonly logger: Logger;
}

export interface Scheduler {
  /** Claims what is due now, one batch at most; returns how many monitors it looked at, and how many it claimed. */
  claimDue(): Promise<{ due: number; claimed: number }>;
}

/**
 * Starts the runs that are due. Replicas share the work without knowing of each other: a claim replaces exactly the
 * schedule that was seen, so of two only one succeeds, and none after a cancellation.
 */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { environment, store, now, logger } = options;
  const meter = metrics.getMeter("monitor");
  const claims = meter.createCounter("monitor_runs_claimed", { description: "Runs of monitors that were started." });
  const lateness = meter.createHistogram("monitor_run_lateness", {
    unit: "s",
    description:
      "How long after it was due a run was started. Growing, there are too few replicas, or MongoDB is slow.",
    advice: { explicitBucketBoundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600] },
  });
  const overdue = meter.createCounter("monitor_runs_timed_out", {
    description: "Runs that did not end in time, so that the next was started. Sustained: verifications don't run.",
  });

  async function claim(seen: MonitorDocument): Promise<boolean> {
    const at = now();
    const monitor = claimed(options, seen, at);
    const tenant = { organizationId: seen.organization_id, environment };
    const done = await inRunTrace(monitor, () =>
      inTransaction(options.client, async (session) => {
        if (!(await store.replaceScheduled(tenant, session, seen, monitor))) return false;
        await options.runs.begin(tenant, session, monitor);
        return true;
      }),
    );
    if (!done) return false;
    claims.add(1, { environment });
    lateness.record(Math.max(0, at.getTime() - seen.next_run_at!.getTime()) / 1_000, { environment });
    const ids = { environment, organization_id: seen.organization_id, monitor_id: seen._id, run_seq: monitor.run_seq };
    if (seen.open_run) {
      overdue.add(1, { environment });
      logger.warn({ ...ids, open_run_seq: seen.open_run.run_seq }, "a run did not end in time; the next one starts");
    }
    logger.info({ ...ids, due_at: seen.next_run_at }, "run started");
    return true;
  }

  return {
    async claimDue() {
      const due = shuffled(await store.claimable(now(), BATCH));
      let count = 0;
      const work = due[Symbol.iterator]();
      const worker = async () => {
        for (const monitor of work) if (await claim(monitor)) count++;
      };
      await Promise.all(Array.from({ length: CLAIMS_AT_ONCE }, worker));
      return { due: due.length, claimed: count };
    },
  };
}

/** Claims until stopped, whatever happens to MongoDB. Resolves when the claims in hand are done. */
export async function runScheduler(
  scheduler: Scheduler,
  options: { pollMs: number; onClaimed: () => void; signal: AbortSignal; logger: Logger },
): Promise<void> {
  const { pollMs, onClaimed, signal, logger } = options;
  const pause = (ms: number) => wait(ms, undefined, { signal }).catch(() => undefined);
  let failing = false;
  while (!signal.aborted) {
    try {
      const { due, claimed } = await scheduler.claimDue();
      if (claimed > 0) onClaimed();
      failing = false;
      if (due < BATCH) await pause(pollMs);
    } catch (err) {
      if (!failing) logger.error({ err }, "runs can't be started; trying until they can");
      failing = true;
      await pause(RETRY_MS);
    }
  }
}

/** The monitor with its next run claimed. */
function claimed(options: SchedulerOptions, seen: MonitorDocument, at: Date): MonitorDocument {
  const dueAt = seen.next_run_at!;
  const schedule = {
    environment: options.environment,
    frequency: seen.frequency,
    createdAt: seen.created_at,
    lastDueAt: dueAt,
  };
  const nextRunAt = nextDueAt(schedule, at, options.fastClock);
  const openRun = { run_seq: seen.run_seq + 1, claimed_at: at };
  return {
    ...seen,
    run_seq: openRun.run_seq,
    last_due_at: dueAt,
    next_run_at: nextRunAt,
    open_run: openRun,
    claimable_at: claimableAt(nextRunAt, openRun, options.runTimeoutMs),
  };
}

/** So that replicas that see the same batch seldom try the same monitor. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ item }) => item);
}
