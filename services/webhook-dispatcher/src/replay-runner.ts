import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import type { Environment } from "@vvs/tenant";
import type { Replays } from "./replay.ts";
import type { ReplayJob, ReplayJobs } from "./replay-jobs.ts";

/** So many deliveries are begun again by one write. */
const BATCH = 500;
/** How often replays are looked for that nobody nudged about: those of a replica that died. */
const POLL_MS = 1_000;
/** A batch takes no longer; after it another replica may go on. */
const LEASE_MS = 30_000;

export interface ReplayRunner {
  /** There is a new replay. */
  nudge(): void;
  /** Resolves when the batch at hand is done, once nothing more is to be begun. */
  ended(): Promise<void>;
}

/**
 * Carries replays of many out, batch by batch, one batch of each in turn. A batch that was begun and not noted is found
 * done when it is begun anew, since what it replayed is not failed any more.
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
  let wake = new AbortController();

  async function carryOn(job: ReplayJob): Promise<void> {
    const tenant = { organizationId: job.organization_id, environment };
    const filter = { since: job.since, until: job.until, monitorId: job.monitor_id, webhookUrl: job.webhook_url };
    const replayed = await replays.replayBatch(tenant, filter, { id: job._id, at: now(), actor: job.actor }, BATCH);
    await jobs.release(job, { isDone: replayed === 0, now: now() });
    logger.info({ organization_id: job.organization_id, replay: job._id, replayed }, "replay of failed deliveries");
  }

  async function work(): Promise<void> {
    let troubled = false;
    while (!stopping.aborted) {
      wake = new AbortController();
      try {
        for (let job = await jobs.claim(now(), LEASE_MS); job; ) {
          await carryOn(job);
          job = stopping.aborted ? undefined : await jobs.claim(now(), LEASE_MS);
        }
        troubled = false;
      } catch (err) {
        if (!troubled) logger.error({ err }, "replays can't be carried out; trying until they can");
        troubled = true;
      }
      const signal = AbortSignal.any([wake.signal, stopping]);
      await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  const working = work();
  return { nudge: () => wake.abort(), ended: () => working };
}
