import { isDuplicateKey } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { FailedFilter } from "./replay.ts";

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

export interface ReplayJobs {
  find(tenant: Tenant, replayId: string): Promise<ReplayJob | undefined>;
  /** Adds a replay and returns it; one that was added with this id before stays as it is and is returned. */
  add(tenant: Tenant, replayId: string, job: NewReplayJob): Promise<ReplayJob>;
  /** Returns how many are not done yet. */
  countRunning(tenant: Tenant): Promise<number>;
  /** Claims, for `leaseMs`, the replay of any organization on which no replica has worked for the longest time. */
  claim(now: Date, leaseMs: number): Promise<ReplayJob | undefined>;
  /** Marks a claimed replay as done, or lets any replica claim its next batch. No effect once another replica claimed it. */
  release(job: ReplayJob, options: { isDone: boolean; now: Date }): Promise<void>;
}

export interface NewReplayJob {
  readonly filter: FailedFilter;
  readonly actor: string;
  readonly count: number;
  readonly now: Date;
}

/** The bulk replays of one environment. */
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

    async release({ _id, organization_id, lease_until }, { isDone, now }) {
      const state = isDone ? "done" : "running";
      await jobs.updateOne(
        { _id, organization_id, state: "running", lease_until },
        { $set: { state, lease_until: now } },
      );
    },
  };
}

function idOf({ organizationId }: Tenant, replayId: string): string {
  return `${organizationId} ${replayId}`;
}
