import type { Check } from "@vvs/checks";
import { webhookUrlProblem } from "@vvs/egress";
import { ServiceError } from "@vvs/errors";
import type { HeldKey, IdempotencyStore, Outcome } from "@vvs/idempotency";
import { newId } from "@vvs/ids";
import { createGroupCommit, inTransaction, isDuplicateKey } from "@vvs/mongo";
import type { Idempotency } from "@vvs/proto/common/v1/common";
import type { CallerContext, Tenant } from "@vvs/tenant";
import type { ClientSession, Db, MongoClient } from "mongodb";
import { addAuditEntries } from "../audit/audit-entries.ts";
import type { WebhookRequests } from "../events/webhook-requests.ts";
import type { Frequency } from "../model/frequency.ts";
import { asCreated, type MonitorDocument } from "../model/monitor.ts";
import { afterCancel, nextRun, type ScheduleOptions } from "../model/next-run.ts";
import { activeTraceparent } from "../runs/run-trace.ts";
import type { Runs } from "../runs/runs.ts";
import type { MonitorStore } from "../store.ts";
import type { Positions } from "../sweep/positions.ts";
import { withoutStanding } from "../sweep/standing.ts";

/** A first run goes ahead of runs that are late by less than this, in milliseconds: whoever created the monitor waits for it. */
const FIRST_RUN_AHEAD_MS = 60_000;

/** Values of a monitor to create. */
export interface NewMonitor {
  readonly entityId: string;
  readonly checks: readonly Check[];
  readonly frequency: Frequency;
  /** Undefined: its events are not sent. */
  readonly webhookUrl: string | undefined;
  readonly externalId: string | undefined;
  /** Maximum number of active monitors of the organization, including this one. */
  readonly activeLimit: number;
  readonly idempotency: Idempotency | undefined;
}

/**
 * Resolves if the caller can see the entity, and the number to store for it (if any) is not its TIN. Errors:
 * entity_not_found, invalid_request (external_id). With `takenOver` also where one of its own took the entity over.
 */
export type ExpectEntity = (
  caller: CallerContext,
  entityId: string,
  { externalId, takenOver }: { readonly externalId: string | undefined; readonly takenOver: boolean },
) => Promise<void>;

/** The changes to make to a monitor. Undefined: unchanged. Null: removed. */
interface MonitorChange {
  readonly frequency?: Frequency | undefined;
  readonly webhookUrl?: string | null | undefined;
  readonly externalId?: string | null | undefined;
}

/** A monitor to store. */
interface Creation {
  readonly caller: CallerContext;
  readonly tenant: Tenant;
  readonly monitor: MonitorDocument;
  /** Absent where the client sent no Idempotency-Key. */
  readonly key: HeldKey | undefined;
}

/** Creates, updates and cancels the monitors of one environment. */
export function createMonitorCommands(
  options: ScheduleOptions & {
    readonly client: MongoClient;
    readonly db: Db;
    readonly store: MonitorStore;
    readonly runs: Runs;
    readonly webhooks: WebhookRequests;
    readonly idempotency: IdempotencyStore;
    readonly expectEntity: ExpectEntity;
    /** Returns how far the checks of standing monitors have been made. */
    readonly readPositions: () => Promise<Positions>;
    readonly allowPrivateTargets: boolean;
    /** Wakes the outbox relay. */
    readonly nudge: () => void;
    readonly now: () => Date;
  },
) {
  const { client, db, store, runs, now } = options;
  // Concurrent creations share transactions: a hundred of them take a few commits.
  const commit = createGroupCommit<Creation>({
    client,
    async write(session, creations) {
      await store.insert(session, creations);
      await addAuditEntries(
        db,
        session,
        creations.map(({ caller, monitor }) => ({
          caller,
          done: { action: "monitor.created", monitor, at: monitor.created_at },
        })),
      );
      await options.idempotency.complete(
        session,
        creations.map(({ key, monitor }) => ({ key, resourceId: monitor._id })),
      );
    },
  });

  function expectAllowedUrl(url: string | null | undefined): void {
    if (!url) return;
    const { environment, allowPrivateTargets } = options;
    const problem = webhookUrlProblem(url, { environment, allowPrivateTargets });
    if (problem) throw new ServiceError("invalid_request", { details: [{ path: "webhook_url", message: problem }] });
  }

  async function existing(tenant: Tenant, id: string, session?: ClientSession): Promise<MonitorDocument> {
    const monitor = await store.find(tenant, id, session);
    if (!monitor) throw new ServiceError("monitor_not_found");
    return monitor;
  }

  /** Returns the monitor as one whose next run is a real one: read the positions before it. */
  const endStanding = (monitor: MonitorDocument, positions: Positions): MonitorDocument =>
    withoutStanding(monitor, positions.get(monitor.frequency), options.runTimeoutMs);

  async function create(
    caller: CallerContext,
    wanted: NewMonitor,
    own: Pick<MonitorDocument, "job_key"> = {},
  ): Promise<Outcome<MonitorDocument>> {
    const { tenant } = caller;
    expectAllowedUrl(wanted.webhookUrl);
    return options.idempotency.once({
      tenant,
      idempotency: wanted.idempotency,
      replay: async (id) => asCreated(await existing(tenant, id)),
      async run(key) {
        const limit = wanted.activeLimit;
        const message = `The organization has reached its limit of ${limit} active monitors. Cancel a monitor before you create another one.`;
        const refusal = () => new ServiceError("limit_exceeded", { message });
        return store.withinCap(tenant, { limit, refusal }, async () => {
          const { entityId, externalId } = wanted;
          await options.expectEntity(caller, entityId, { externalId, takenOver: false });
          const created = { ...newMonitor(options, caller, wanted), ...own };
          await commit({ caller, monitor: created, tenant, key });
          return created;
        });
      },
    });
  }

  return {
    /** Returns a monitor of any status. Errors: monitor_not_found. */
    existing,

    /**
     * Creates a monitor, whose first run the scheduler starts immediately. Errors: invalid_request (webhook_url, external_id),
     * limit_exceeded, entity_not_found, idempotency_conflict, idempotency_mismatch.
     */
    create: (caller: CallerContext, wanted: NewMonitor) => create(caller, wanted),

    /**
     * Returns the active monitor of the same entity, checks and URL, or creates it. Concurrent calls create one. Errors: those of
     * `create`.
     */
    async ensure(caller: CallerContext, wanted: NewMonitor): Promise<Outcome<MonitorDocument>> {
      const same = await store.findSame(caller.tenant, wanted);
      if (same) return { value: same, replayed: true };
      const { entityId, checks, webhookUrl = "" } = wanted;
      try {
        return await create(caller, wanted, { job_key: JSON.stringify([entityId, checks.toSorted(), webhookUrl]) });
      } catch (error) {
        if (!isDuplicateKey(error, "job_key")) throw error;
        const other = await store.findSame(caller.tenant, wanted);
        // An older version, during a rollout, changes the URL of a monitor and leaves its key.
        return other ? { value: other, replayed: true } : create(caller, wanted);
      }
    },

    /**
     * Changes an active monitor. Errors: invalid_request (webhook_url, external_id), monitor_not_found, monitor_canceled.
     */
    async update(caller: CallerContext, id: string, change: MonitorChange): Promise<MonitorDocument> {
      const { tenant } = caller;
      expectAllowedUrl(change.webhookUrl);
      if (change.externalId) {
        const { entity_id: entityId } = await existing(tenant, id);
        await options.expectEntity(caller, entityId, { externalId: change.externalId, takenOver: true });
      }
      const positions = await options.readPositions();
      const changed = await inTransaction(client, async (session) => {
        const monitor = endStanding(await existing(tenant, id, session), positions);
        if (monitor.status === "canceled") throw new ServiceError("monitor_canceled");
        const numbered = withExternalId(withUrl(monitor, change.webhookUrl), change.externalId);
        const next = withFrequency(options, numbered, change.frequency);
        await store.replace(tenant, session, next);
        const done = { monitor: next, before: monitor, at: now() };
        if (next.url_version !== monitor.url_version) {
          await options.webhooks.urlChanged(tenant, session, next);
          await addAuditEntries(db, session, [{ caller, done: { ...done, action: "monitor.webhook_url_changed" } }]);
        }
        if (next.frequency !== monitor.frequency || next.external_id !== monitor.external_id) {
          await addAuditEntries(db, session, [{ caller, done: { ...done, action: "monitor.changed" } }]);
        }
        return next;
      });
      options.nudge();
      return changed;
    },

    /**
     * Cancels a monitor: no further run starts and no further event is stored. An open run that waits for SAM.gov's API
     * ends. Repeatable. Errors: monitor_not_found.
     */
    async cancel(caller: CallerContext, id: string): Promise<MonitorDocument> {
      const { tenant } = caller;
      const positions = await options.readPositions();
      const canceled = await store.freeing(tenant, () =>
        inTransaction(client, async (session) => {
          const seen = await store.find(tenant, id, session);
          if (seen?.status !== "active") return undefined;
          const monitor = afterCancel(endStanding(seen, positions), now());
          await store.replace(tenant, session, monitor);
          await runs.cancel(session, tenant, monitor);
          const done = { action: "monitor.canceled", monitor, at: monitor.canceled_at! } as const;
          await addAuditEntries(db, session, [{ caller, done }]);
          return monitor;
        }),
      );
      options.nudge();
      return canceled ?? existing(tenant, id);
    },
  };
}

/** Returns a new monitor. Its first run is due now, and goes ahead of late runs. */
function newMonitor(
  options: ScheduleOptions & { now: () => Date },
  caller: CallerContext,
  { entityId, checks, frequency, webhookUrl, externalId }: NewMonitor,
): MonitorDocument {
  const created_at = options.now();
  const dates = { created_at, last_due_at: created_at, first_run_at: created_at };
  const schedule = { _id: newId("mon", created_at), frequency, run_seq: 0, ...dates };
  const next = nextRun(options, schedule, created_at);
  const traceparent = activeTraceparent();
  return {
    organization_id: caller.tenant.organizationId,
    entity_id: entityId,
    checks,
    webhook_url: webhookUrl,
    ...(externalId && { external_id: externalId }),
    status: "active",
    created_by: caller.actor,
    ...(traceparent && { traceparent }),
    created_as: {
      frequency,
      webhook_url: webhookUrl,
      ...(externalId && { external_id: externalId }),
      next_run_at: next.next_run_at,
    },
    ...schedule,
    ...next,
    claimable_at: new Date(created_at.getTime() - FIRST_RUN_AHEAD_MS),
    consecutive_errors: 0,
    event_count: 0,
  };
}

/** Returns the monitor with another URL. Null removes the URL; undefined leaves the monitor unchanged. */
function withUrl(monitor: MonitorDocument, url: string | null | undefined): MonitorDocument {
  if (url === undefined || url === (monitor.webhook_url ?? null)) return monitor;
  const { webhook_url: _before, job_key: _key, url_version: version = 0, ...rest } = monitor;
  return { ...rest, url_version: version + 1, ...(url !== null && { webhook_url: url }) };
}

/** Returns the monitor with another number. Null removes it; undefined leaves the monitor unchanged. */
function withExternalId(monitor: MonitorDocument, externalId: string | null | undefined): MonitorDocument {
  if (externalId === undefined) return monitor;
  const { external_id: _before, ...rest } = monitor;
  return { ...rest, ...(externalId !== null && { external_id: externalId }) };
}

/**
 * Returns the monitor with another frequency. Its next run is due at the first grid point of the new period; one that is due
 * already stays due.
 */
function withFrequency(
  options: ScheduleOptions & { now: () => Date },
  monitor: MonitorDocument,
  frequency: Frequency | undefined,
): MonitorDocument {
  if (!frequency || frequency === monitor.frequency) return monitor;
  const changed = { ...monitor, frequency };
  const now = options.now();
  return monitor.next_run_at! <= now ? changed : { ...changed, ...nextRun(options, changed, now) };
}
