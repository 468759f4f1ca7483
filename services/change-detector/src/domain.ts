import type { Logger } from "@vvs/logging";
import { createOutbox } from "@vvs/outbox";
import type { Environment } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import { createRecordHandlers, type RecordHandlers } from "./records.ts";
import { createBaselineStore } from "./store.ts";

/** Everything that compares the runs of one environment. The two environments share nothing but the process. */
export interface ChangeDetectorDomain {
  readonly records: RecordHandlers;
}

export function createChangeDetectorDomain(options: {
  environment: Environment;
  client: MongoClient;
  db: Db;
  /** Full name of the environment's monitor.change_detected topic. */
  topic: string;
  /** Wakes the outbox relay. */
  nudge: () => void;
  now: () => Date;
  logger: Logger;
}): ChangeDetectorDomain {
  const { db } = options;
  return {
    records: createRecordHandlers({ ...options, store: createBaselineStore(db), outbox: createOutbox({ db }) }),
  };
}
