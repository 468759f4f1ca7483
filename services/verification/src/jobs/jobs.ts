import type { Admit } from "@vvs/fair-queue";
import type { IdempotencyStore } from "@vvs/idempotency";
import type { Logger } from "@vvs/logging";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { superviseLoop } from "@vvs/retry";
import type { Client } from "@vvs/rpc";
import type { Environment } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import type { Subjects } from "../checks/subjects.ts";
import type { Verifier } from "../checks/verifier.ts";
import { createCopy } from "../own-data.ts";
import type { ParkingPlace } from "../runs/monitor-runs.ts";
import { jobCollections } from "./documents.ts";
import { createIntake } from "./intake.ts";
import { createJobStore } from "./job-store.ts";
import { createVerifyRow } from "./verify-row.ts";
import { createJobWork } from "./work.ts";

/** How often aged jobs are looked for, in milliseconds. */
const AGED_MS = 60_000;
/** How long the suspended organizations that were read are used, in milliseconds. */
const SUSPENDED_MS = 5_000;
/**
 * Maximum time after the start in which no job is worked on because the suspended organizations are unknown, in milliseconds. As in
 * monitor, a long outage of account must not stop all others.
 */
const FIRST_ANSWER_MS = 5 * 60_000;

export type Jobs = ReturnType<typeof createJobs>;

/** Creates the jobs of one environment: intake, results, and the workers. */
export function createJobs(options: {
  environment: Environment;
  client: MongoClient;
  db: Db;
  admit: Admit;
  entities: Pick<Client<typeof EntityService>, "lookUp" | "sealTins" | "openTins">;
  monitors: Pick<Client<typeof MonitorService>, "createMonitor">;
  subjects: Pick<Subjects, "resolve">;
  verifier: Pick<Verifier, "verifyRow">;
  idempotency: Pick<IdempotencyStore, "complete">;
  /** Where rows wait for SAM.gov's API; undefined where it is not used. */
  parking: () => Pick<ParkingPlace, "park" | "leaveRows"> | undefined;
  /** Returns the ids of suspended organizations. */
  suspended: () => Promise<readonly string[]>;
  /** Unique name of this process. */
  owner: string;
  stopping: AbortSignal;
  now: () => Date;
  logger: Logger;
}) {
  const { db, environment, stopping, logger } = options;
  const collections = jobCollections(db);
  const verifyRow = createVerifyRow(options);
  const suspended = readSuspended(options);
  const loops = new Set<ReturnType<typeof superviseLoop>>();
  const nudge = () => loops.forEach((loop) => void loop.nudge());
  const workers = [false, true].map((withTin) =>
    createJobWork({ ...options, collections, verifyRow, suspended, withTin, onEnded: nudge }),
  );
  const settled = () => Promise.all(workers.map((worker) => worker.settled()));
  const store = createJobStore({ ...options, collections });
  return {
    ...store,
    intake: createIntake({ ...options, collections }),
    /** Starts work on a new job. */
    nudge,
    /** Works on due jobs once: for tests. */
    async work() {
      await Promise.all(workers.map(({ round }) => round()));
      await settled();
    },
    /** Works on jobs, and removes aged ones, until the service stops. */
    start() {
      const failure = "jobs can't be worked on; retrying";
      const recovery = "jobs are worked on again";
      const supervised = { failure, recovery, backoff: { firstMs: 500, longestMs: 30_000 }, stopping, logger };
      for (const { round } of workers) loops.add(superviseLoop({ ...supervised, round }));
      const removing = superviseLoop({
        async round() {
          await store.removeAged();
          return AGED_MS;
        },
        failure: "jobs past their time can't be removed; retrying",
        recovery: "jobs past their time are removed again",
        backoff: { firstMs: 1_000, longestMs: AGED_MS },
        stopping,
        logger: logger.child({ environment }),
      });
      return {
        async ended() {
          await Promise.all([...loops, removing].map((loop) => loop.ended()));
          await settled();
        },
      };
    },
  };
}

/**
 * Returns a reader of the suspended organizations, for all workers: they share a reading, so that none begins before it ends. While
 * it fails, what was read last applies. Errors: those of the first readings.
 */
function readSuspended({ suspended, now }: { suspended: () => Promise<readonly string[]>; now: () => Date }) {
  const clock = () => now().getTime();
  const startedAt = clock();
  let known: readonly string[] | undefined;
  async function read(): Promise<readonly string[]> {
    try {
      known = await suspended();
    } catch (error) {
      if (!known && clock() - startedAt < FIRST_ANSWER_MS) throw error;
    }
    return known ?? [];
  }
  return createCopy({ read, maxAgeMs: SUSPENDED_MS, clock });
}
