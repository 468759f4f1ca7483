import { createIdempotencyStore } from "@vvs/idempotency";
import type { Logger } from "@vvs/logging";
import { createOutbox } from "@vvs/outbox";
import type { CallerContext, Environment } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import { createEventHistory, type EventHistory } from "./events/event-history.ts";
import { createEventReader, type EventReader } from "./events/event-reader.ts";
import { createEventWaits, type EventWaits } from "./events/event-waits.ts";
import { createWebhookRequests } from "./events/webhook-requests.ts";
import { createMonitorCommands, type MonitorCommands } from "./monitors/monitor-commands.ts";
import { createRecordHandlers, type RecordHandlers } from "./records.ts";
import { createRuns } from "./runs/runs.ts";
import type { FastClock } from "./runs/schedule.ts";
import { createScheduler, type Scheduler } from "./runs/scheduler.ts";
import { createMonitorStore, type MonitorStore } from "./store.ts";

/** Maximum duration of a creation, in milliseconds. Its calls and its transaction have shorter deadlines. */
const CREATION_MS = 30_000;
/** Pause between two reads of new events while calls wait for one, in milliseconds. */
const WAIT_POLL_MS = 250;

export interface MonitorDomainOptions {
  readonly environment: Environment;
  readonly client: MongoClient;
  readonly db: Db;
  /** Full names of the environment's topics. */
  readonly topics: { readonly verificationRequested: string; readonly webhookRequested: string };
  /** Resolves if the caller can see the entity. Errors: entity_not_found. */
  readonly expectEntity: (caller: CallerContext, entityId: string) => Promise<void>;
  readonly allowPrivateTargets: boolean;
  /** How long a run that has not ended delays the next one, in milliseconds. */
  readonly runTimeoutMs: number;
  readonly isSuspended: (organizationId: string) => boolean;
  readonly fastClock: FastClock;
  /** Wakes the outbox relay and the event sequencer. */
  readonly nudge: () => void;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Everything that works on the monitors of one environment. The two environments share nothing but the process. */
export interface MonitorDomain {
  readonly store: MonitorStore;
  readonly commands: MonitorCommands;
  readonly scheduler: Scheduler;
  readonly records: RecordHandlers;
  readonly history: EventHistory;
  readonly reader: EventReader;
  readonly waits: EventWaits;
  readonly now: () => Date;
}

export function createMonitorDomain(options: MonitorDomainOptions): MonitorDomain {
  const { db, client, now } = options;
  const store = createMonitorStore(db);
  const outbox = createOutbox({ db });
  const runs = createRuns({ db, outbox, topic: options.topics.verificationRequested });
  const webhooks = createWebhookRequests({ outbox, topic: options.topics.webhookRequested });
  const history = createEventHistory({ db, client, store, webhooks, now });
  const idempotency = createIdempotencyStore({ db, leaseMs: CREATION_MS, now });
  return {
    store,
    now,
    history,
    reader: createEventReader({ db }),
    waits: createEventWaits({ db, pollMs: WAIT_POLL_MS, logger: options.logger }),
    commands: createMonitorCommands({ ...options, store, runs, webhooks, idempotency }),
    scheduler: createScheduler({ ...options, store, runs }),
    records: createRecordHandlers({ ...options, store, runs, history }),
  };
}
