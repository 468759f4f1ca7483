import { metrics } from "@opentelemetry/api";
import { type MissingInput, missingInputs, refusedQuestions, statusOf } from "@vvs/checks";
import { changesIn, PoisonRecordError, runIn, tenantIn, timeIn } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import { CheckType } from "@vvs/proto/common/v1/common";
import {
  type ChangeDetected,
  type CheckOutcome,
  LoadStep,
  type RegistryChanged,
  type VerificationCompleted,
} from "@vvs/proto/events/v1/events";
import type { Environment, Tenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { EventHistory } from "./events/event-history.ts";
import type { DataDates } from "./model/monitor.ts";
import { afterRun, type RunEnd } from "./runs/run-end.ts";
import type { Runs } from "./runs/runs.ts";
import type { MonitorStore } from "./store.ts";

/** Reasons of errors that are no provider's fault: missing data, and questions that nobody was asked. */
const INPUT_REASONS: ReadonlySet<string> = new Set([...missingInputs, ...refusedQuestions, "entity_not_found"]);

/**
 * Creates the handlers of one environment's records; a repeated record has no effect. Errors: PoisonRecordError for an
 * invalid record; any other error may be retried.
 */
export function createRecordHandlers(options: {
  environment: Environment;
  client: MongoClient;
  store: MonitorStore;
  runs: Runs;
  history: EventHistory;
  /** Wakes the outbox relay and the event sequencer. */
  nudge: () => void;
  runTimeoutMs: number;
  /** Time over which the runs are spread that start because a file changed their vendors, in milliseconds. */
  fileRunSpreadMs: number;
  now: () => Date;
  logger: Logger;
}) {
  const { environment, client, store, runs, history, nudge, runTimeoutMs, fileRunSpreadMs, now, logger } = options;
  const meter = metrics.getMeter("monitor");
  const ended = meter.createCounter("monitor_runs_ended", {
    description: "Ended runs by outcome. Mostly error: providers are unavailable. Zero: no verifications arrive.",
  });
  const recorded = meter.createCounter("monitor_changes_recorded", {
    description: "Detected changes by result: recorded, canceled (monitor canceled, so not reported), duplicate.",
  });

  async function endRun(tenant: Tenant, session: ClientSession, monitorId: string, end: RunEnd): Promise<boolean> {
    const monitor = await store.find(tenant, monitorId, session);
    // Monitors are never deleted, and each is stored before its first record is published.
    if (!monitor || end.runSeq > monitor.run_seq)
      throw new PoisonRecordError("the record names a run that does not exist");
    if (!(await runs.end(tenant, session, monitorId, end))) return false;
    const { last_run: before } = monitor;
    if (before?.confirmed && end.runSeq > before.run_seq) await runs.confirm(tenant, session, monitorId, before);
    await store.replace(tenant, session, afterRun(monitor, end, { runTimeoutMs, now: now() }));
    return true;
  }

  return {
    /** Ends the run of a verification. Verifications of API calls are ignored. */
    async verificationCompleted(record: VerificationCompleted): Promise<void> {
      const tenant = tenantIn(record, environment);
      if (!record.run) return;
      const { monitorId, runSeq } = runIn(record);
      const end = endOf(record, runSeq);
      const first = await inTransaction(client, (session) => endRun(tenant, session, monitorId, end));
      if (first) ended.add(1, { environment, outcome: end.outcome });
      const ids = { environment, organization_id: tenant.organizationId, monitor_id: monitorId, run_seq: runSeq };
      logger.info({ ...ids, verification_id: end.verificationId, outcome: end.outcome, first }, "run ended");
    },

    /** Stores a change in the history of its monitor if the monitor is still active. */
    async changeDetected(record: ChangeDetected): Promise<void> {
      const tenant = tenantIn(record, environment);
      const { monitorId, runSeq } = runIn(record);
      const { eventId, entityId, verificationId, externalId, entityName } = record;
      if (!eventId || !entityId || !verificationId) throw new PoisonRecordError("the record lacks an id");
      const event = {
        _id: eventId,
        organization_id: tenant.organizationId,
        monitor_id: monitorId,
        entity_id: entityId,
        run_seq: runSeq,
        verification_id: verificationId,
        changes: changesIn(record),
        ...(externalId && { external_id: externalId }),
        created_at: timeIn(record.detectedAt),
      };
      const outcome = await history.record(tenant, event, entityName);
      if (outcome === "recorded") nudge();
      recorded.add(1, { environment, outcome });
      const ids = { environment, organization_id: tenant.organizationId, monitor_id: monitorId, run_seq: runSeq };
      logger.info({ ...ids, event_id: eventId, outcome }, "change detected");
    },

    /**
     * Gives the monitors of vendors that a file changed an extra run: urgent ones now, the others within some minutes. A step
     * of a load names no vendor, and is only logged.
     */
    async registryChanged(record: RegistryChanged): Promise<void> {
      const { recordId, loadId, entityIds, urgentEntityIds, step } = record;
      if (!recordId || !loadId || entityIds.length === 0 || [...entityIds, ...urgentEntityIds].includes("")) {
        throw new PoisonRecordError("the record names no load, or no entity");
      }
      const load = { loadId, changedAt: timeIn(record.changedAt) };
      const ids = { environment, load_id: loadId, record_id: recordId };
      if (step !== LoadStep.UNSPECIFIED) return logger.info({ ...ids, step: LoadStep[step] }, "a step of a load");
      const add = (ids: readonly string[], spreadMs: number) =>
        store.addFileRuns({ ...load, entityIds: ids }, { now: now(), spreadMs, runTimeoutMs });
      const urgent = urgentEntityIds.length > 0 ? await add(urgentEntityIds, 0) : 0;
      const monitors = urgent + (await add(entityIds, fileRunSpreadMs));
      const counts = { entities: entityIds.length, monitors, urgent };
      logger.info({ ...ids, ...counts }, "a file changed vendors");
    },
  };
}

function endOf(record: VerificationCompleted, runSeq: number): RunEnd {
  const outcome = statusOf(record.overallResult);
  if (!record.verificationId || !outcome) {
    throw new PoisonRecordError("the record has no verification id or no known result");
  }
  const errors = record.checks.filter(({ status }) => statusOf(status) === "error");
  const lacksInput = errors.length > 0 && errors.every(({ reason }) => INPUT_REASONS.has(reason));
  const { verificationId } = record;
  const at = timeIn(record.createdAt);
  const registration = record.checks.find(({ checkType }) => checkType === CheckType.SAM_REGISTRATION);
  const lacksIdentifier = registration?.reason === ("missing_uei" satisfies MissingInput);
  const parts = registration?.parts;
  return {
    ...{ runSeq, at, outcome, verificationId, lacksInput, lacksIdentifier },
    dataAsOf: registration && dataAsOf(registration, at),
    digest: Buffer.from(registration?.digest ?? []).toString("hex") || undefined,
    expirationDate: parts?.registration?.expirationDate,
    exclusionDays: parts?.exclusions?.exclusions.map(({ activeDate }) => activeDate),
  };
}

/** Returns the dates of an answer's data: the answer's own in the sandbox, which has no files. Undefined for an error. */
function dataAsOf({ status, parts }: CheckOutcome, at: Date): DataDates | undefined {
  if (statusOf(status) === "error") return undefined;
  if (!parts) return { registration: at, exclusions: at };
  const { registration, exclusions } = parts;
  return {
    ...(registration?.source?.date && { registration: timeIn(registration.source.date) }),
    ...(exclusions?.source?.date && { exclusions: timeIn(exclusions.source.date) }),
  };
}
