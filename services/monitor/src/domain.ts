import { createIdempotencyStore } from "@vvs/idempotency";
import type { Logger } from "@vvs/logging";
import { createOutbox } from "@vvs/outbox";
import type { Db, MongoClient } from "mongodb";
import { createEventHistory } from "./events/event-history.ts";
import { createEventReader } from "./events/event-reader.ts";
import { createEventWaits } from "./events/event-waits.ts";
import { createReleaseVerifications } from "./events/named-verifications.ts";
import { createWebhookRequests } from "./events/webhook-requests.ts";
import type { ScheduleOptions } from "./model/next-run.ts";
import { createMonitorCommands, type ExpectEntity } from "./monitors/monitor-commands.ts";
import { createRecordHandlers } from "./records.ts";
import { createClaims } from "./runs/claims.ts";
import { createListConfirmedRuns } from "./runs/confirmed-runs.ts";
import { createOrganizationLeases } from "./runs/organization-leases.ts";
import { createRunMetrics } from "./runs/run-metrics.ts";
import { createRuns, type RunTopics } from "./runs/runs.ts";
import { createScheduler, ORGANIZATION_LEASE_MS } from "./runs/scheduler.ts";
import { createMonitorStore } from "./store.ts";
import { createPositionStore, createReadPositions } from "./sweep/positions.ts";
import { createStandingStore } from "./sweep/standing-store.ts";

/** Maximum duration of a creation, in milliseconds. Its calls and its transaction have shorter deadlines. */
const CREATION_MS = 30_000;
/** Pause between two reads of new events while calls wait for one, in milliseconds. */
const WAIT_POLL_MS = 250;

export type MonitorDomain = ReturnType<typeof createMonitorDomain>;

/** Everything that works on the monitors of one environment. The two environments share nothing but the process. */
export function createMonitorDomain(
  options: ScheduleOptions & {
    readonly client: MongoClient;
    readonly db: Db;
    /** Full names of the environment's topics. */
    readonly topics: RunTopics & { readonly webhookRequested: string };
    readonly expectEntity: ExpectEntity;
    readonly allowPrivateTargets: boolean;
    readonly isSuspended: (organizationId: string) => boolean;
    /** Time between the leases in which an organization's due monitors are claimed, in milliseconds. */
    readonly leaseIntervalMs: number;
    /** Time over which the runs are spread that start because a file changed their vendors, in milliseconds. */
    readonly fileRunSpreadMs: number;
    /** Wakes the outbox relay and the event sequencer. */
    readonly nudge: () => void;
    readonly now: () => Date;
    readonly stopping: AbortSignal;
    readonly logger: Logger;
  },
) {
  const { db, now } = options;
  const store = createMonitorStore(db);
  const outbox = createOutbox({ db });
  const runs = createRuns({ db, outbox, topics: options.topics });
  const webhooks = createWebhookRequests({ outbox, topic: options.topics.webhookRequested });
  const history = createEventHistory({ ...options, store, webhooks });
  const idempotency = createIdempotencyStore({ db, leaseMs: CREATION_MS, now });
  const metrics = createRunMetrics(options.environment);
  const leases = createOrganizationLeases({ db, leaseMs: ORGANIZATION_LEASE_MS, intervalMs: options.leaseIntervalMs });
  const claims = createClaims({ ...options, store, runs, metrics });
  const positions = createPositionStore(db);
  const readPositions = createReadPositions(positions);
  return {
    store,
    now,
    standing: createStandingStore(db, options),
    positions,
    readPositions,
    listRuns: runs.list,
    listConfirmedRuns: createListConfirmedRuns({ db, readPositions }),
    history,
    reader: createEventReader({ db }),
    waits: createEventWaits({ db, pollMs: WAIT_POLL_MS, logger: options.logger }),
    commands: createMonitorCommands({ ...options, store, runs, webhooks, idempotency, readPositions }),
    /** Makes the extra runs due that waited for the end of a suspension, of all organizations but the suspended ones. */
    resumeExtras: (suspended: readonly string[]) =>
      store.resumeExtras(suspended, { now: now(), runTimeoutMs: options.runTimeoutMs }),
    scheduler: createScheduler({ ...options, store, leases, claims, metrics, oldestUnsentMs: outbox.oldestMs }),
    releaseVerifications: createReleaseVerifications(options),
    records: createRecordHandlers({ ...options, store, runs, history }),
  };
}
