import { isDuplicateKey } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { FailedFilter } from "./replay.ts";

/** A replay of many, which survives whoever carries it out. */
export interface ReplayJob {
  /** The organization's id, a space, and the id that its asker chose. */
  readonly _id: string;
  readonly organization_id: string;
  readonly since: Date;
  /** What failed after that was not meant. */
  readonly until: Date;
  readonly monitor_id?: string;
  readonly webhook_url?: string;
  /** usr_…. */
  readonly actor: string;
  /** How many fitted when it was asked for, counted up to a limit. */
  readonly count: number;
  readonly state: "running" | "done";
  /** Until then nobody else takes it on. */
  readonly lease_until: Date;
  readonly created_at: Date;
}

export interface ReplayJobs {
  find(tenant: Tenant, replayId: string): Promise<ReplayJob | undefined>;
  /** Notes a replay that is to be carried out; the one that was noted with this id before stays as it is. */
  add(tenant: Tenant, replayId: string, job: NewReplayJob): Promise<ReplayJob>;
  /** How many are not at their end yet. */
  countRunning(tenant: Tenant): Promise<number>;
  /** Takes on the replay of any organization that nobody worked on for longest, for `leaseMs`. */
  claim(now: Date, leaseMs: number): Promise<ReplayJob | undefined>;
  /** Ends one, or has its next part done by anybody. */
  release(job: ReplayJob, options: { isDone: boolean; now: Date }): Promise<void>;
}

export interface NewReplayJob {
  readonly filter: FailedFilter;
  readonly actor: string;
  readonly count: number;
  readonly now: Date;
}

/** Replays of many in one environment. */
export function createReplayJobs(options: { db: Db }): ReplayJobs {
  const jobs = options.db.collection<ReplayJob>("replays");
  const find = (tenant: Tenant, replayId: string) =>
    jobs.findOne({ _id: idOf(tenant, replayId), organization_id: tenant.organizationId });
  return {
    find: async (tenant, replayId) => (await find(tenant, replayId)) ?? undefined,

    async add(tenant, replayId, { filter, actor, count, now }) {
      const job: ReplayJob = {
        _id: idOf(tenant, replayId),
        organization_id: tenant.organizationId,
        since: filter.since,
        until: filter.until,
        ...(filter.monitorId && { monitor_id: filter.monitorId }),
        ...(filter.webhookUrl && { webhook_url: filter.webhookUrl }),
        actor,
        count,
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

    countRunning: (tenant) => jobs.countDocuments({ organization_id: tenant.organizationId, state: "running" }),

    async claim(now, leaseMs) {
      const claimed = await jobs.findOneAndUpdate(
        { state: "running", lease_until: { $lte: now } },
        { $set: { lease_until: new Date(now.getTime() + leaseMs) } },
        { sort: { lease_until: 1 }, returnDocument: "after" },
      );
      return claimed ?? undefined;
    },

    async release(job, { isDone, now }) {
      const state = isDone ? "done" : "running";
      await jobs.updateOne(
        { _id: job._id, organization_id: job.organization_id },
        { $set: { state, lease_until: now } },
      );
    },
  };
}

function idOf({ organizationId }: Tenant, replayId: string): string {
  return `${organizationId} ${replayId}`;
}
