import { createBatcher } from "@vvs/batching";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { type Environment, toProtoTenant } from "@vvs/tenant";
import type { AnyBulkWriteOperation } from "mongodb";
import { completion, isOpen } from "../open-rows.ts";
import type { ParkingPlace } from "../runs/monitor-runs.ts";
import { type JobCollections, KEPT_AFTER_END_MS, type RowDocument, type RowResult, whileOpen } from "./documents.ts";
import { advance } from "./job-store.ts";
import { copyToSameRows, countRows } from "./row-counts.ts";
import { countPauseMs, isLastTry, nextWait } from "./row-rules.ts";
import type { RowTry, StartedJob, VerifyRow } from "./verify-row.ts";

/** Rows that are read together. */
const ROWS_TOGETHER = 400;
/**
 * Rows of a job in flight: they fill the batches in which they are stored. With 64, 10,000 rows took 15 s instead of 27 s, and the
 * p99 of direct calls beside them was 12 times the quiet one instead of 4 times; with 8 it was no better.
 */
const AT_ONCE = 16;
/** How long a job is worked on before the others of its replica have their turn, in milliseconds. */
const SLICE_MS = 5_000;
/** How long a replica that died keeps a job, in milliseconds: longer than a slice with its slowest row. */
const LEASE_MS = 60_000;
/** Jobs of a replica that are worked on at the same time. */
const JOBS_AT_ONCE = 4;
/** How long a job rests that can't be worked on, in milliseconds. */
const FAILED_MS = 5_000;
/** How long a row waits for SAM.gov's API before it is tried again: another file may answer it, or nobody woke it. */
const PARKED_MS = 60 * 60_000;
/** How often due jobs are looked for, in milliseconds. */
const POLL_MS = 1_000;

/**
 * Creates the worker on an environment's jobs with tin_match, or without: a slow TIN provider must not delay the others. Replicas
 * share the jobs by leases. A row is completed only while it is open, so that one that two replicas try has one result.
 */
export function createJobWork(options: {
  environment: Environment;
  collections: JobCollections;
  entities: Pick<Client<typeof EntityService>, "openTins">;
  verifyRow: VerifyRow;
  /** Where rows wait for SAM.gov's API; undefined where it is not used. */
  parking: () => Pick<ParkingPlace, "park" | "leaveRows"> | undefined;
  /** Returns the ids of suspended organizations, whose jobs rest. */
  suspended: () => Promise<readonly string[]>;
  /** Unique name of this process. */
  owner: string;
  withTin: boolean;
  /** Called when a further job may be worked on. */
  onEnded: () => void;
  leaseMs?: number;
  sliceMs?: number;
  stopping: AbortSignal;
  now: () => Date;
  logger: Logger;
}) {
  const { environment, collections, entities, verifyRow, parking, owner, withTin, stopping, now, logger } = options;
  const { jobs, rows } = collections;
  const { leaseMs = LEASE_MS, sliceMs = SLICE_MS } = options;
  /** The work on jobs in progress, and their organizations. */
  const slices = new Set<Promise<void>>();
  const busy = new Set<string>();
  /** Organizations that had their turn, until no other one has a due job. */
  const served = new Set<string>();

  const write = createBatcher<AnyBulkWriteOperation<RowDocument>, void>({
    async run(operations) {
      await rows.bulkWrite([...operations], { ordered: false });
      return [];
    },
    maxSize: 500,
    atOnce: 1,
  });

  /** Begins to work on due jobs of different organizations, as many as may be worked on. Returns the pause until the next round. */
  async function round(): Promise<number> {
    while (slices.size < JOBS_AT_ONCE) {
      const job = await claim();
      if (!job) break;
      busy.add(job.organization_id);
      const ended = slice(job).finally(() => {
        busy.delete(job.organization_id);
        slices.delete(ended);
        options.onEnded();
      });
      slices.add(ended);
    }
    return POLL_MS;
  }

  async function claim(): Promise<StartedJob | undefined> {
    if (stopping.aborted) return undefined;
    const at = now();
    const free = { next_at: { $lte: at }, $or: [{ lease: { $exists: false } }, { "lease.until": { $lte: at } }] };
    const checks = withTin ? "tin_match" : { $ne: "tin_match" };
    const dueOfOthers = (than: readonly string[]) => {
      const filter = { ...free, checks, organization_id: { $nin: than } } as object;
      return jobs.findOne(filter, { sort: { next_at: 1 }, projection: { organization_id: 1 } });
    };
    // Account is asked only where there is something to do.
    if (!(await dueOfOthers([...busy]))) return undefined;
    const resting = await options.suspended();
    let next = await dueOfOthers([...resting, ...busy, ...served]);
    if (!next && [...served].some((id) => !busy.has(id))) {
      served.clear();
      next = await dueOfOthers([...resting, ...busy]);
    }
    if (!next) return undefined;
    served.add(next.organization_id);
    const until = new Date(at.getTime() + leaseMs);
    const claimed = await jobs.findOneAndUpdate(
      { _id: next._id, ...free },
      { $set: { lease: { owner, until }, status: "running" } },
      { returnDocument: "after" },
    );
    return (claimed as StartedJob | null) ?? claim();
  }

  /** Works on a job until its turn is over or no row is due, and gives it back. Never throws: a failure delays only this job. */
  async function slice(job: StartedJob): Promise<void> {
    try {
      await workOnRows(job);
      await giveBack(job, 0);
    } catch (err) {
      logger.error({ err, environment, job_id: job._id }, "a job can't be worked on; it is tried again");
      // Where this fails too, its lease ends.
      await giveBack(job, FAILED_MS).catch(() => undefined);
    }
  }

  async function workOnRows(job: StartedJob): Promise<void> {
    const until = performance.now() + sliceMs;
    const failures: unknown[] = [];
    const isOver = () => stopping.aborted || performance.now() > until || failures.length > 0;
    let countAt = performance.now() + countPauseMs(0);
    const count = async () => {
      const beganAt = performance.now();
      countAt = Number.POSITIVE_INFINITY;
      const $set = { counts: await countRows(collections, job), results_updated_at: now() };
      countAt = performance.now() + countPauseMs(performance.now() - beganAt);
      await jobs.updateOne({ _id: job._id, next_at: { $exists: true } }, { $set });
    };
    // The index has traces of the rows before, which have been done.
    let from = new Date(0);
    do {
      const due = await rows
        .find({ job_id: job._id, organization_id: job.organization_id, due_at: { $gte: from, $lte: now() } })
        .project<RowDocument>({ cells: 0 })
        .sort({ due_at: 1, _id: 1 })
        .limit(ROWS_TOGETHER)
        .batchSize(ROWS_TOGETHER + 1)
        .toArray();
      if (due.length === 0) break;
      from = due.at(-1)!.due_at!;
      const tins = await openTins(job, due);
      const queue = due.values();
      const lane = async () => {
        for (const row of queue) {
          if (isOver()) return;
          try {
            await workOn(job, row, tins.get(row._id) ?? "");
            if (performance.now() > countAt) await count();
          } catch (error) {
            failures.push(error);
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
    } while (!isOver());
    if (failures.length > 0) throw failures[0];
  }

  /** Returns the TINs of rows by their ids; empty for one that can't be opened. */
  async function openTins(job: StartedJob, due: readonly RowDocument[]): Promise<Map<string, string>> {
    const withTins = due.filter(({ input }) => input.tin);
    if (withTins.length === 0) return new Map();
    const tenant = toProtoTenant({ organizationId: job.organization_id, environment });
    const sealed = withTins.map(({ input }) => ({
      keyId: input.tin!.key_id,
      box: Uint8Array.from(input.tin!.box.value()),
    }));
    const { tins } = await entities.openTins({ tenant, jobId: job._id, sealed });
    const closed = sealed.filter((_, index) => !tins[index]);
    if (closed.length > 0) {
      const key_ids = [...new Set(closed.map(({ keyId }) => keyId))];
      logger.error({ environment, job_id: job._id, rows: closed.length, key_ids }, "TINs of a job can't be opened");
    }
    return new Map(withTins.map(({ _id }, index) => [_id, tins[index]!]));
  }

  /** Works on a row. An error says nothing about it, so it is tried again for a day. Errors: those that the job's other rows would have too. */
  async function workOn(job: StartedJob, row: RowDocument, tin: string): Promise<void> {
    if (row.input.tin && !tin) {
      return waitOrEnd(row, { path: "identifiers.tin", message: "can no longer be read. Send the row again." });
    }
    try {
      await settle(job, row, await verifyRow(job, row, tin));
    } catch (error) {
      const isPassing = error instanceof ServiceError && ["service_unavailable", "rate_limited"].includes(error.code);
      if (!isPassing) logger.error({ err: error, job_id: job._id, row: row.row }, "a job's row could not be verified");
      await waitOrEnd(row, { path: "row", message: "Something went wrong on our side." });
      if (isPassing) throw error;
    }
  }

  function waitOrEnd(row: RowDocument, problem: { path: string; message: string }): Promise<void> {
    // An earlier try may have named its vendor and monitor.
    if (isLastTry(environment, row))
      return end(row, { ...row.result, outcome: "error", decision: "review", problems: [problem] });
    return wait(row, { ...row.result, outcome: "waiting", decision: "review" });
  }

  async function settle(job: StartedJob, row: RowDocument, tried: RowTry): Promise<void> {
    if (tried.kind === "stored") return;
    if (tried.kind === "ended") return end(row, tried.result);
    const result = { outcome: "waiting", decision: "review", ...tried.about } as const;
    const place = parking();
    if (!("asking" in tried) || !place) return wait(row, result);
    const { _id: recordId, organization_id: organizationId } = row;
    const parked = {
      recordId,
      tenant: { organizationId, environment },
      run: { monitorId: recordId, runSeq: 1, isRow: true },
      entityId: tried.about.entity_id,
      checks: job.checks,
      requestedAt: job.created_at,
    };
    // Written first, so that an answer that comes immediately wakes a row that waits.
    await update(row, { $set: { result, ...nextWait(environment, row, { now: now(), waitMs: PARKED_MS }) } });
    // Behind what monitors ask for the first time: a job must not use up the quota.
    await place.park(parked, { ...tried.asking, priority: 2 });
  }

  const end = (row: RowDocument, result: RowResult) => update(row, completion(result));

  const wait = (row: RowDocument, result: RowResult) =>
    update(row, { $set: { result, ...nextWait(environment, row, { now: now() }) }, $unset: { was_parked: 1 } });

  const update = (row: RowDocument, change: object) => write({ updateOne: { filter: whileOpen(row), update: change } });

  /** Gives a job back until its next row is due, at least for `restMs`, or ends it where every row has its last answer. */
  async function giveBack(job: StartedJob, restMs: number): Promise<void> {
    const { _id, organization_id } = job;
    const nextDue = async () => {
      const open = { job_id: _id, organization_id, ...isOpen };
      return (await rows.findOne(open, { sort: { due_at: 1 }, projection: { due_at: 1 } }))?.due_at;
    };
    const held = { _id, organization_id, status: "running", "lease.owner": owner } as const;
    const at = now();
    await copyToSameRows(collections, job);
    const next = await nextDue();
    const counted = { counts: await countRows(collections, job), results_updated_at: at };
    if (!next) {
      const expires_at = new Date(at.getTime() + KEPT_AFTER_END_MS);
      const $set = { status: "completed", ...counted, completed_at: at, expires_at } as const;
      const { matchedCount } = await jobs.updateOne(held, { $set, $unset: { next_at: 1, lease: 1 } });
      // Where it was canceled meanwhile, a row in flight may have been parked since.
      if (matchedCount === 0) await parking()?.leaveRows(organization_id, _id);
      return;
    }
    // Behind the jobs that wait already.
    const next_at = new Date(Math.max(next.getTime(), at.getTime() + restMs));
    await jobs.updateOne(held, { $set: { ...counted, next_at }, $unset: { lease: 1 } });
    // A row that was woken since is due earlier.
    const since = await nextDue();
    if (since && since < next) await advance(collections, job, since);
  }

  return {
    round,
    /** Resolves when no job is worked on. */
    settled: () => Promise.all(slices),
  };
}
