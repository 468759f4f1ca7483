import { timestampDate } from "@bufbuild/protobuf/wkt";
import { metrics } from "@opentelemetry/api";
import { PoisonRecordError } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import type { Tenant as ProtoTenant } from "@vvs/proto/common/v1/common";
import type { ChangeDetected, MonitorRun, VerificationCompleted } from "@vvs/proto/events/v1/events";
import { type Environment, type Tenant, tenantOf } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { EventHistory } from "./event-history.ts";
import { afterRun, type RunEnd } from "./monitor.ts";
import { statusOf } from "./names.ts";
import type { Runs } from "./runs.ts";
import type { MonitorStore } from "./store.ts";

export interface RecordHandlers {
  /** Closes the run a verification was made for; those of API calls are nothing to us. */
  verificationCompleted(record: VerificationCompleted): Promise<void>;
  /** Writes a change into the history of a monitor that is still active. */
  changeDetected(record: ChangeDetected): Promise<void>;
}

/**
 * What is done with the records of one environment; repeating one has no effect. Errors: PoisonRecordError for a record
 * that can't be; anything else is worth another attempt.
 */
export function createRecordHandlers(options: {
  environment: Environment;
  client: MongoClient;
  store: MonitorStore;
  runs: Runs;
  history: EventHistory;
  /** Tells the relay that there is something to publish. */
  nudge: () => void;
  logger: Logger;
}): RecordHandlers {
  const { environment, client, store, runs, history, nudge, logger } = options;
  const meter = metrics.getMeter("monitor");
  const ended = meter.createCounter("monitor_runs_ended", {
    description: "Runs by how they ended. Mostly error: providers are away. None: verifications don't get here.",
  });
  const recorded = meter.createCounter("monitor_changes_recorded", {
    description: "Detected changes by what became of them: recorded, canceled (told to nobody), duplicate.",
  });

  async function endRun(tenant: Tenant, session: ClientSession, monitorId: string, end: RunEnd): Promise<boolean> {
    const monitor = await store.find(tenant, monitorId, session);
    // Monitors are never deleted, and one is stored before its first record is.
    if (!monitor || end.runSeq > monitor.run_seq) throw new PoisonRecordError("no such run");
    if (!(await runs.end(tenant, session, monitorId, end))) return false;
    await store.replace(tenant, session, afterRun(monitor, end));
    return true;
  }

  return {
    async verificationCompleted(record) {
      if (!record.run) return;
      const { monitorId, runSeq } = runOf(record.run);
      const tenant = tenantIn(record.tenant, environment);
      const end = endOf(record, runSeq);
      const first = await inTransaction(client, (session) => endRun(tenant, session, monitorId, end));
      if (first) ended.add(1, { environment, outcome: end.outcome });
      const ids = { environment, organization_id: tenant.organizationId, monitor_id: monitorId, run_seq: runSeq };
      logger.info({ ...ids, verification_id: end.verificationId, outcome: end.outcome, first }, "run ended");
    },
    async changeDetected(record) {
      const { monitorId, runSeq } = runOf(record.run);
      const tenant = tenantIn(record.tenant, environment);
      if (!record.eventId || !record.verificationId || !record.detectedAt || record.changes.length === 0) {
        throw new PoisonRecordError("the record names no change");
      }
      const outcome = await history.record(tenant, {
        eventId: record.eventId,
        monitorId,
        runSeq,
        entityId: record.entityId,
        verificationId: record.verificationId,
        changes: record.changes.map(({ field, previous, current }) => ({
          field,
          previous: previous ?? null,
          current: current ?? null,
        })),
        detectedAt: timestampDate(record.detectedAt),
      });
      if (outcome === "recorded") nudge();
      recorded.add(1, { environment, outcome });
      const ids = { environment, organization_id: tenant.organizationId, monitor_id: monitorId, run_seq: runSeq };
      logger.info({ ...ids, event_id: record.eventId, outcome }, "change detected");
    },
  };
}

function runOf(run: MonitorRun | undefined): { monitorId: string; runSeq: number } {
  if (!run?.monitorId || run.runSeq < 1n) throw new PoisonRecordError("the record names no run");
  return { monitorId: run.monitorId, runSeq: Number(run.runSeq) };
}

function endOf(record: VerificationCompleted, runSeq: number): RunEnd {
  const outcome = statusOf(record.overallResult);
  if (!record.verificationId || !record.createdAt || !outcome) {
    throw new PoisonRecordError("the record names no verification");
  }
  return { runSeq, at: timestampDate(record.createdAt), outcome, verificationId: record.verificationId };
}

function tenantIn(message: ProtoTenant | undefined, environment: Environment): Tenant {
  let tenant: Tenant;
  try {
    tenant = tenantOf(message);
  } catch (cause) {
    throw new PoisonRecordError("the record names no tenant", { cause });
  }
  if (tenant.environment !== environment) throw new PoisonRecordError("the record belongs to the other environment");
  return tenant;
}
