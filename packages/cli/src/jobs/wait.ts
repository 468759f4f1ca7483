import { setTimeout as wait } from "node:timers/promises";
import type { Client, Job } from "@vendor-verification/client";
import { followLimits } from "../follow.ts";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

/** Waits until a job is completed or canceled. Reports its progress now and then. */
export async function waitForJob(
  client: Pick<Client, "getJob">,
  id: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (job: Job) => void },
): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const job = await client.getJob(id, { signal, ...followLimits });
    onProgress(job);
    if (job.completed_at) return;
    await wait(pauseMs, undefined, { signal });
  }
}
