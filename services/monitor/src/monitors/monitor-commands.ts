import type { Check } from "@vvs/checks";
import { webhookUrlProblem } from "@vvs/egress";
import { ServiceError } from "@vvs/errors";
import type { IdempotencyStore, Outcome } from "@vvs/idempotency";
import { newId } from "@vvs/ids";
import { createGroupCommit, inTransaction } from "@vvs/mongo";
import type { Idempotency } from "@vvs/proto/common/v1/common";
import type { CallerContext, Environment, Tenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { WebhookRequests } from "../events/webhook-requests.ts";
import type { Frequency } from "../runs/frequency.ts";
import { activeTraceparent, inRunTrace } from "../runs/run-trace.ts";
import type { ClaimedRun, Runs } from "../runs/runs.ts";
import { type FastClock, nextDueAt } from "../runs/schedule.ts";
import type { MonitorStore } from "../store.ts";
import { asCreated, claimableAt, type MonitorDocument } from "./monitor.ts";

/** Values of a monitor to create. */
export interface NewMonitor {
  readonly entityId: string;
  readonly checks: readonly Check[];
  readonly frequency: Frequency;
  /** Undefined: its events are not sent. */
  readonly webhookUrl: string | undefined;
  /** Maximum number of active monitors of the organization, including this one. */
  readonly activeLimit: number;
  readonly idempotency: Idempotency | undefined;
}

/** New values of a monitor. Undefined fields stay unchanged. */
export interface MonitorChange {
  readonly frequency: Frequency | undefined;
  /** Null removes the URL. */
  readonly webhookUrl: string | null | undefined;
}

export interface MonitorCommandsOptions {
  readonly environment: Environment;
  readonly client: MongoClient;
  readonly store: MonitorStore;
  readonly runs: Runs;
  readonly webhooks: WebhookRequests;
  readonly idempotency: IdempotencyStore;
  /** Resolves if the caller can see the entity. Errors: entity_not_found. */
  readonly expectEntity: (caller: CallerContext, entityId: string) => Promise<void>;
  readonly allowPrivateTargets: boolean;
  readonly runTimeoutMs: number;
  readonly fastClock: FastClock;
  /** Wakes the outbox relay and the event sequencer. */
  readonly nudge: () => void;
  readonly now: () => Date;
}

/** Creates, updates and cancels the monitors of one environment. */
export interface MonitorCommands {
  /**
   * Creates a monitor and starts its first run. Errors: invalid_request (webhook_url), limit_exceeded,
   * entity_not_found, idempotency_conflict, idempotency_mismatch.
   */
  create(caller: CallerContext, wanted: NewMonitor): Promise<Outcome<MonitorDocument>>;
  /** Changes an active monitor. Errors: invalid_request (webhook_url), monitor_not_found, monitor_canceled. */
  update(tenant: Tenant, id: string, change: MonitorChange): Promise<MonitorDocument>;
  /** Cancels a monitor: no further run starts and no further event is stored. Repeating it has no effect. Errors: monitor_not_found. */
  cancel(tenant: Tenant, id: string): Promise<MonitorDocument>;
}

/** A monitor to store together with its first run. */
interface Creation {
  readonly tenant: Tenant;
  readonly monitor: MonitorDocument;
  readonly firstRun: ClaimedRun;
  /** Stores the result of the idempotent call in the same transaction. */
  readonly complete: (session: ClientSession) => Promise<void>;
}

export function createMonitorCommands(options: MonitorCommandsOptions): MonitorCommands {
  const { client, store, runs, now } = options;
  // Concurrent creations share transactions: a hundred of them take a few commits.
  const commit = createGroupCommit<Creation>({
    client,
    async write(session, creations) {
      await store.insert(session, creations);
      await runs.begin(
        session,
        creations.map(({ firstRun }) => firstRun),
      );
      for (const { complete } of creations) await complete(session);
    },
  });

  function expectAllowedUrl(url: string | null | undefined): void {
    if (!url) return;
    const { environment, allowPrivateTargets } = options;
    const problem = webhookUrlProblem(url, { environment, allowPrivateTargets });
    if (problem) throw new ServiceError("invalid_request", { details: [{ path: "webhook_url", message: problem }] });
  }

  function limitExceeded(limit: number): ServiceError {
    return new ServiceError("limit_exceeded", {
      message: `The organization has reached its limit of ${limit} active monitors. Cancel a monitor before you create another one.`,
    });
  }

  async function existing(tenant: Tenant, id: string, session?: ClientSession): Promise<MonitorDocument> {
    const monitor = await store.find(tenant, id, session);
    if (!monitor) throw new ServiceError("monitor_not_found");
    return monitor;
  }

  return {
    async create(caller, wanted) {
      const { tenant } = caller;
      expectAllowedUrl(wanted.webhookUrl);
      return options.idempotency.once({
        tenant,
        idempotency: wanted.idempotency,
        replay: async (id) => asCreated(await existing(tenant, id)),
        async run(complete) {
          const limit = wanted.activeLimit;
          const monitor = await store.withinCap(tenant, { limit, refusal: () => limitExceeded(limit) }, async () => {
            await options.expectEntity(caller, wanted.entityId);
            const created = newMonitor(options, caller, wanted);
            await inRunTrace(created, async () => {
              const firstRun = runs.claimed(tenant, created);
              await commit({
                tenant,
                monitor: created,
                firstRun,
                complete: (session) => complete(session, created._id),
              });
              return true;
            });
            return created;
          });
          options.nudge();
          return monitor;
        },
      });
    },
    async update(tenant, id, change) {
      expectAllowedUrl(change.webhookUrl);
      const changed = await inTransaction(client, async (session) => {
        const monitor = await existing(tenant, id, session);
        if (monitor.status === "canceled") throw new ServiceError("monitor_canceled");
        const next = rescheduled(options, withUrl(monitor, change.webhookUrl), change);
        await store.replace(tenant, session, next);
        if (next.url_version !== monitor.url_version) await options.webhooks.urlChanged(tenant, session, next);
        return next;
      });
      options.nudge();
      return changed;
    },
    cancel: async (tenant, id) => (await store.cancel(tenant, id, now())) ?? existing(tenant, id),
  };
}

/** Returns a new monitor with its first run claimed. That run is due at the creation. */
function newMonitor(options: MonitorCommandsOptions, caller: CallerContext, wanted: NewMonitor): MonitorDocument {
  const createdAt = options.now();
  const { frequency, webhookUrl } = wanted;
  const schedule = { environment: options.environment, frequency, createdAt, lastDueAt: createdAt };
  const nextRunAt = nextDueAt(schedule, createdAt, options.fastClock);
  const openRun = { run_seq: 1, claimed_at: createdAt };
  const traceparent = activeTraceparent();
  return {
    _id: newId("mon", createdAt),
    organization_id: caller.tenant.organizationId,
    entity_id: wanted.entityId,
    checks: wanted.checks,
    frequency,
    webhook_url: webhookUrl,
    status: "active",
    created_at: createdAt,
    created_by: caller.actor,
    ...(traceparent && { traceparent }),
    created_as: { frequency, webhook_url: webhookUrl, next_run_at: nextRunAt },
    run_seq: openRun.run_seq,
    last_due_at: createdAt,
    next_run_at: nextRunAt,
    claimable_at: claimableAt(nextRunAt, openRun, options.runTimeoutMs),
    open_run: openRun,
    consecutive_errors: 0,
    event_count: 0,
  };
}

/** Returns the monitor with another URL. Null removes the URL; undefined leaves the monitor unchanged. */
function withUrl(monitor: MonitorDocument, url: string | null | undefined): MonitorDocument {
  if (url === undefined || url === (monitor.webhook_url ?? null)) return monitor;
  const { webhook_url: _before, url_version: version = 0, ...rest } = monitor;
  return { ...rest, url_version: version + 1, ...(url !== null && { webhook_url: url }) };
}

/**
 * Returns the monitor with another frequency. Its next run is due one new interval after its last due time or, if that has
 * passed, a whole number of intervals after it.
 */
function rescheduled(
  options: MonitorCommandsOptions,
  monitor: MonitorDocument,
  change: MonitorChange,
): MonitorDocument {
  const { frequency } = change;
  if (!frequency || frequency === monitor.frequency) return monitor;
  const schedule = {
    environment: options.environment,
    frequency,
    createdAt: monitor.created_at,
    lastDueAt: monitor.last_due_at,
  };
  const nextRunAt = nextDueAt(schedule, options.now(), options.fastClock);
  return {
    ...monitor,
    frequency,
    next_run_at: nextRunAt,
    claimable_at: claimableAt(nextRunAt, monitor.open_run, options.runTimeoutMs),
  };
}
