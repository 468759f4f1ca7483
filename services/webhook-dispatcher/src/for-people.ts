import type { Logger } from "@vvs/logging";
import type { Environment } from "@vvs/tenant";
import type { Db } from "mongodb";
import { type Audit, createDeliveryDesk } from "./desk.ts";
import { createEndpointsView } from "./endpoints-view.ts";
import { createDeliveryListing } from "./listing.ts";
import { createReplays } from "./replay.ts";
import { createReplayJobs } from "./replay-jobs.ts";
import { type ReplayRunner, runReplays } from "./replay-runner.ts";
import type { ForPeople } from "./service.ts";
import { createTestEvents } from "./test-event.ts";

/** What people read and do of one environment, and what carries their replays out. */
export function createForPeople(options: {
  environment: Environment;
  db: Db;
  audit: Audit;
  allowPrivateTargets: boolean;
  stopping: AbortSignal;
  logger: Logger;
  now: () => Date;
}): ForPeople & { runner: Pick<ReplayRunner, "ended"> } {
  const listing = createDeliveryListing(options);
  const replays = createReplays(options);
  const jobs = createReplayJobs(options);
  const runner = runReplays({ ...options, jobs, replays });
  const testEvents = createTestEvents(options);
  const desk = createDeliveryDesk({ ...options, listing, replays, jobs, testEvents, onReplay: runner.nudge });
  return { listing, desk, endpoints: createEndpointsView(options), runner };
}
