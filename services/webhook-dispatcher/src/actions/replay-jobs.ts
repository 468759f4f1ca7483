import type { Logger } from "@vvs/logging";
import { isDuplicateKey } from "@vvs/mongo";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { Environment, Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { FailedFilter, Replays } from "./replay.ts";

/** Maximum number of deliveries replayed by one write. */
const BATCH = 500;
/** Pause between looks for replays, in milliseconds: a nudge ends it, unless the replica that had the replay died. */
const POLL_MS = 1_000;
/** Duration of a lease, in milliseconds: longer than a batch. After it another replica may go on. */
const LEASE_MS = 30_000;

/** A bulk replay. It is stored, so that another replica goes on with it. */
export interface ReplayJob {
  /** The organization's id, a space, and the id that the caller chose. */
  readonly _id: string;
  readonly organization_id: string;
  readonly since: Date;
  /** Deliveries accepted later are not part of it. */
  readonly until: Date;
  readonly monitor_id?: string;
  readonly webhook_url?: string;
  /** usr_…. */
  readonly actor: string;
  /** Matching deliveries when it was requested, counted up to a limit. */
  readonly count: number;
  readonly state: "running" | "done";
  /** Until then no other replica claims it. */
  readonly lease_until: Date;
  readonly created_at: Date;
}

export type ReplayJobs = ReturnType<typeof createReplayJobs>;

/** The bulk replays of one environment. */
export function createReplayJobs(options: { db: Db }) {
  const jobs = options.db.collection<ReplayJob>("replays");

  /** Returns a replay of the organization. */
  async function find({ organizationId }: Tenant, replayId: string): Promise<ReplayJob | undefined> {
    return (await jobs.findOne({ _id: `${organizationId} ${replayId}`, organization_id: organizationId })) ?? undefined;
  }

  return {
    find,

    /** Adds a replay and returns it; one that was added with this id before stays as it is and is returned. */
    async add(
      tenant: Tenant,
      replayId: string,
      { filter, now, ...more }: { filter: FailedFilter; actor: string; count: number; now: Date },
    ): Promise<ReplayJob> {
      const job: ReplayJob = {
        _id: `${tenant.organizationId} ${replayId}`,
        organization_id: tenant.organizationId,
        since: filter.since,
        until: filter.until,
        ...(filter.monitorId && { monitor_id: filter.monitorId }),
        ...(filter.webhookUrl && { webhook_url: filter.webhookUrl }),
        ...more,
        state: "running",
        lease_until: now,
        created_at: now,
      };
      try {
        await jobs.insertOne(job);
        return job;
      } catch (error) {
        if (isDuplicateKey(error, "_id")) return (await find(tenant, replayId))!;
        throw error;
      }
    },

    /** Returns how many are not done yet. */
    countRunning: ({ organizationId }: Tenant): Promise<number> =>
      jobs.countDocuments({ organization_id: organizationId, state: "running" }),

    /** Claims, for `leaseMs`, the replay of any organization on which no replica has worked for the longest time. */
    async claim(now: Date, leaseMs: number): Promise<ReplayJob | undefined> {
      const claimed = await jobs.findOneAndUpdate(
        { state: "running", lease_until: { $lte: now } },
        { $set: { lease_until: new Date(now.getTime() + leaseMs) } },
        { sort: { lease_until: 1 }, returnDocument: "after" },
      );
      return claimed ?? undefined;
    },

    /** Marks a claimed replay as done, or lets any replica claim its next batch; no effect once another claimed it. */
    async release(
      { _id, organization_id, lease_until }: ReplayJob,
      { isDone, now }: { isDone: boolean; now: Date },
    ): Promise<void> {
      const held = { _id, organization_id, state: "running", lease_until } as const;
      await jobs.updateOne(held, { $set: { state: isDone ? "done" : "running", lease_until: now } });
    },
  };
}

/**
 * Carries out bulk replays, one batch of each in turn; a nudge reports a new one. A batch that is repeated after a crash does nothing, since the
 * deliveries that it replayed are no longer failed.
 */
export function runReplays(options: {
  environment: Environment;
  jobs: Pick<ReplayJobs, "claim" | "release">;
  replays: Pick<Replays, "replayBatch">;
  stopping: AbortSignal;
  logger: Logger;
  now: () => Date;
}): SupervisedLoop {
  const { environment, jobs, replays, stopping, logger, now } = options;

  async function replayNextBatch(job: ReplayJob): Promise<void> {
    const tenant = { organizationId: job.organization_id, environment };
    const filter = { since: job.since, until: job.until, monitorId: job.monitor_id, webhookUrl: job.webhook_url };
    const replayed = await replays.replayBatch(tenant, filter, { id: job._id, at: now(), actor: job.actor }, BATCH);
    await jobs.release(job, { isDone: replayed === 0, now: now() });
    logger.info({ organization_id: job.organization_id, replay: job._id, replayed }, "failed deliveries replayed");
  }

  return superviseLoop({
    async round() {
      for (let job = await jobs.claim(now(), LEASE_MS); job; ) {
        await replayNextBatch(job);
        job = stopping.aborted ? undefined : await jobs.claim(now(), LEASE_MS);
      }
      return POLL_MS;
    },
    failure: "replays can't be carried out; retrying",
    recovery: "replays are carried out again",
    stopping,
    logger,
  });
}
