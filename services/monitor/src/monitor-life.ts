import { webhookUrlProblem } from "@vvs/egress";
import { ServiceError } from "@vvs/errors";
import type { IdempotencyStore, Outcome } from "@vvs/idempotency";
import { newId } from "@vvs/ids";
import { inTransaction } from "@vvs/mongo";
import type { Idempotency } from "@vvs/proto/common/v1/common";
import type { CallerContext, Environment, Tenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import { asCreated, type Check, claimableAt, type MonitorDocument } from "./monitor.ts";
import { activeTraceparent, inRunTrace } from "./run-trace.ts";
import type { Runs } from "./runs.ts";
import { type FastClock, type Frequency, nextDueAt } from "./schedule.ts";
import type { MonitorStore } from "./store.ts";
import { createTurns } from "./turns.ts";

export interface NewMonitor {
  readonly entityId: string;
  readonly checks: readonly Check[];
  readonly frequency: Frequency;
  readonly webhookUrl: string;
  /** Active monitors that the organization may have, this one counted. */
  readonly activeLimit: number;
  readonly idempotency: Idempotency | undefined;
}

/** What is undefined stays as it is. */
export interface MonitorChange {
  readonly frequency: Frequency | undefined;
  readonly webhookUrl: string | undefined;
}

export interface MonitorLifeOptions {
  readonly environment: Environment;
  readonly client: MongoClient;
  readonly store: MonitorStore;
  readonly runs: Runs;
  readonly idempotency: IdempotencyStore;
  /** Resolves where the caller sees this entity. Errors: entity_not_found. */
  readonly expectEntity: (caller: CallerContext, entityId: string) => Promise<void>;
  readonly allowPrivateTargets: boolean;
  readonly runTimeoutMs: number;
  readonly fastClock: FastClock;
  /** Tells the relay that there is something to publish. */
  readonly nudge: () => void;
  readonly now: () => Date;
}

export interface MonitorLife {
  /**
   * Creates a monitor and starts its first run. Errors: invalid_request (webhook_url), limit_exceeded,
   * entity_not_found, idempotency_conflict, idempotency_mismatch.
   */
  create(caller: CallerContext, wanted: NewMonitor): Promise<Outcome<MonitorDocument>>;
  /** Errors: invalid_request (webhook_url, or the monitor is canceled), monitor_not_found. */
  update(tenant: Tenant, id: string, change: MonitorChange): Promise<MonitorDocument>;
  /** After it no run is started and no event written; repeatable. Errors: monitor_not_found. */
  cancel(tenant: Tenant, id: string): Promise<MonitorDocument>;
}

/** How the monitors of one environment come into being, change and end. */
export function createMonitorLife(options: MonitorLifeOptions): MonitorLife {
  const { client, store, runs, now } = options;
  // What changes an organization's count waits for its turn here; in the database such transactions abort each other.
  const inTurn = createTurns();

  function refuseUrl(url: string): void {
    const { environment, allowPrivateTargets } = options;
    const problem = webhookUrlProblem(url, { environment, allowPrivateTargets });
    if (problem) throw new ServiceError("invalid_request", { details: [{ path: "webhook_url", message: problem }] });
  }

  function refuseOver(limit: number): ServiceError {
    return new ServiceError("limit_exceeded", {
      message: `The organization has ${limit} active monitors, as many as it may have; cancel one first.`,
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
      refuseUrl(wanted.webhookUrl);
      return options.idempotency.once({
        tenant,
        idempotency: wanted.idempotency,
        replay: async (id) => asCreated(await existing(tenant, id)),
        async run(complete) {
          const { activeLimit } = wanted;
          if ((await store.activeMonitors(tenant)) >= activeLimit) throw refuseOver(activeLimit);
          await options.expectEntity(caller, wanted.entityId);
          const monitor = begun(options, caller, wanted);
          const insert = () =>
            inTransaction(client, async (session) => {
              if ((await store.countActive(tenant, session, 1)) > activeLimit) throw refuseOver(activeLimit);
              await store.insert(tenant, session, monitor);
              await runs.begin(tenant, session, monitor);
              await complete(session, monitor._id);
              return true;
            });
          await inRunTrace(monitor, () => inTurn(tenant.organizationId, insert));
          options.nudge();
          return monitor;
        },
      });
    },
    async update(tenant, id, change) {
      if (change.webhookUrl !== undefined) refuseUrl(change.webhookUrl);
      return inTransaction(client, async (session) => {
        const monitor = await existing(tenant, id, session);
        if (monitor.status === "canceled") {
          throw new ServiceError("invalid_request", { message: "The monitor is canceled; create another one." });
        }
        const changed = rescheduled(
          options,
          { ...monitor, webhook_url: change.webhookUrl ?? monitor.webhook_url },
          change,
        );
        await store.replace(tenant, session, changed);
        return changed;
      });
    },
    async cancel(tenant, id) {
      const end = async (session: ClientSession) => {
        const monitor = await existing(tenant, id, session);
        if (monitor.status === "canceled") return monitor;
        const { next_run_at: _nextRunAt, claimable_at: _claimableAt, ...rest } = monitor;
        const canceled: MonitorDocument = { ...rest, status: "canceled", canceled_at: now() };
        await store.countActive(tenant, session, -1);
        await store.replace(tenant, session, canceled);
        return canceled;
      };
      return inTurn(tenant.organizationId, () => inTransaction(client, end));
    },
  };
}

/** A new monitor with its first run claimed: that one was due at the creation. */
function begun(options: MonitorLifeOptions, caller: CallerContext, wanted: NewMonitor): MonitorDocument {
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

/** With another frequency the next run comes one new interval after the last one was due, or at the first one after now. */
function rescheduled(options: MonitorLifeOptions, monitor: MonitorDocument, change: MonitorChange): MonitorDocument {
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
