import type { Logger } from "@vvs/logging";
import { type EnvironmentDatabases, forAged, type Keeping, superviseAging } from "@vvs/mongo";
import { pause, type SupervisedLoop } from "@vvs/retry";
import { type Environment, environments } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { KeptDays } from "../kept-until.ts";
import { collectionsOf } from "../store.ts";
import { createReadNames, type Monitors } from "./names.ts";
import { createRemoveAged, type RemoveAged } from "./remove-aged.ts";

/** As many as monitor answers for in a call. */
const BATCH = 500;
/** Pause after each batch, so that calls come first. */
const PAUSE_MS = 200;

export interface RetentionOptions {
  readonly monitors: Monitors;
  readonly days: KeptDays;
  /** Maximum number of sandbox runs of an organization; beyond it the oldest go, but none younger than a day. */
  readonly sandboxRuns: number;
  /** Returns whether this replica is the one that removes an environment's verifications; asked before each batch. */
  readonly isMine: (environment: Environment) => boolean;
  readonly now: () => Date;
  readonly stopping: AbortSignal;
}

/** Creates the round that removes an environment's verifications past their time. It returns how many it removed. */
export function createRetention(options: RetentionOptions & { environment: Environment; db: Db }) {
  const { environment, db, days, sandboxRuns, now, stopping } = options;
  const collections = collectionsOf(db);
  const { verifications } = collections;
  const remove = createRemoveAged({ db, readNames: createReadNames({ ...options, collections }), now });

  const goesOn = () => !stopping.aborted && options.isMine(environment);

  async function removeExpired(): Promise<number> {
    let removed = 0;
    while (goesOn()) {
      const due = { expires_at: { $lte: now() } };
      const batch = await verifications.find(due).sort({ expires_at: 1 }).limit(BATCH).toArray();
      if (batch.length === 0) break;
      removed += await remove(batch);
      await pause(PAUSE_MS, stopping);
    }
    return removed;
  }

  return async (): Promise<number> => {
    if (environment === "sandbox" && goesOn()) {
      await beyondNumber({ db, remove, keeping: { days: days.sandboxRuns, newest: sandboxRuns }, now, stopping });
    }
    return removeExpired();
  };
}

/** Treats the oldest runs of organizations with too many as past their time; once, as their time is set anew then. */
function beyondNumber(options: {
  db: Db;
  remove: RemoveAged;
  keeping: Keeping;
  now: () => Date;
  stopping: AbortSignal;
}): Promise<number> {
  const { keeping, remove, stopping } = options;
  const { verifications } = collectionsOf(options.db);
  const scope = { run: { $exists: true } };
  const filter = { removal: { $exists: false } };
  return forAged(
    verifications,
    { scope, filter, keeping, now: options.now(), stopping },
    async (organization_id, ids) => remove(await verifications.find({ _id: { $in: ids }, organization_id }).toArray()),
  );
}

/** Removes verifications past their time, with their evidence and answers, from time to time. */
export function runRetention(
  options: RetentionOptions & { databases: EnvironmentDatabases; logger: Logger },
): readonly SupervisedLoop[] {
  const { databases, ...common } = options;
  return environments.map((environment) =>
    superviseAging({
      ...common,
      round: createRetention({ ...common, environment, db: databases[environment] }),
      done: "verifications past their time were removed",
      counted: "removed",
      failure: "verifications past their time can't be removed; retrying",
      recovery: "verifications past their time are removed again",
    }),
  );
}
