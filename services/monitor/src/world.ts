import { createIdempotencyStore } from "@vvs/idempotency";
import type { Logger } from "@vvs/logging";
import { createOutbox } from "@vvs/outbox";
import type { CallerContext, Environment } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import { createEventHistory } from "./event-history.ts";
import { createMonitorLife } from "./monitor-life.ts";
import { createRecordHandlers, type RecordHandlers } from "./records.ts";
import { createRuns } from "./runs.ts";
import type { FastClock } from "./schedule.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import type { MonitorWorld } from "./service.ts";
import { createMonitorStore } from "./store.ts";

/** The longest a creation may run, in milliseconds: its calls and transaction have deadlines below that. */
const CREATION_MS = 30_000;

export interface WorldOptions {
  readonly environment: Environment;
  readonly client: MongoClient;
  readonly db: Db;
  /** The full names of the environment's topics. */
  readonly topics: { readonly verificationRequested: string; readonly webhookRequested: string };
  readonly expectEntity: (caller: CallerContext, entityId: string) => Promise<void>;
  readonly allowPrivateTargets: boolean;
  readonly runTimeoutMs: number;
  readonly fastClock: FastClock;
  readonly nudge: () => void;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Everything that works on the monitors of one environment; the two share nothing but the process. */
export function createWorld(options: WorldOptions): MonitorWorld & { scheduler: Scheduler; records: RecordHandlers } {
  const { db, client, now } = options;
  const store = createMonitorStore(db);
  const outbox = createOutbox({ db });
  const runs = createRuns({ db, outbox, topic: options.topics.verificationRequested });
  const history = createEventHistory({ db, client, store, outbox, topic: options.topics.webhookRequested });
  const idempotency = createIdempotencyStore({ db, leaseMs: CREATION_MS, now });
  return {
    store,
    history,
    life: createMonitorLife({ ...options, store, runs, idempotency }),
    scheduler: createScheduler({ ...options, store, runs }),
    records: createRecordHandlers({ ...options, store, runs, history }),
  };
}
