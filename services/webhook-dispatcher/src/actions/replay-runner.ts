import type { Logger } from "@vvs/logging";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { Environment } from "@vvs/tenant";
import type { Replays } from "./replay.ts";
import type { ReplayJob, ReplayJobs } from "./replay-jobs.ts";

/** Maximum number of deliveries replayed by one write. */
const BATCH = 500;
/** Pause between looks for replays, in milliseconds: a nudge ends it, unless the replica that had the replay died. */
const POLL_MS = 1_000;
/** Duration of a lease, in milliseconds: longer than a batch. After it another replica may go on. */
const LEASE_MS = 30_000;

/** `nudge`: there is a new replay. `ended` resolves when the current batch is done, after `stopping` was aborted. */
export type ReplayRunner = SupervisedLoop;

/**
 * Carries out bulk replays, one batch of each in turn. A batch that is repeated after a crash does nothing, since the
 * deliveries that it replayed are no longer failed.
 */
export function runReplays(options: {
  environment: Environment;
  jobs: Pick<ReplayJobs, "claim" | "release">;
  replays: Pick<Replays, "replayBatch">;
  stopping: AbortSignal;
  logger: Logger;
  now: () => Date;
}): ReplayRunner {
  const { environment, jobs, replays, stopping, logger, now } = options;

  async function replayNextBatch(job: ReplayJob): Promise<void> {
    const tenant = { organizationId: job.organization_id, environment };
    const filter = { since: job.since, until: job.until, monitorId: job.monitor_id, webhookUrl: job.webhook_url };
    const replayed = await replays.replayBatch(tenant, filter, { id: job._id, at: now(), actor: job.actor }, BATCH);
    await jobs.release(job, { isDone: replayed === 0, now: now() });
    logger.info({ organization_id: job.organization_id, replay: job._id, replayed }, "failed deliveries replayed");
  }

  async function replayAll(): Promise<number> {
    for (let job = await jobs.claim(now(), LEASE_MS); job; ) {
      await replayNextBatch(job);
      job = stopping.aborted ? undefined : await jobs.claim(now(), LEASE_MS);
    }
    return POLL_MS;
  }

  return superviseLoop({
    round: replayAll,
    failure: "replays can't be carried out; retrying",
    recovery: "replays are carried out again",
    stopping,
    logger,
  });
}
