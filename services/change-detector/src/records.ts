import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { metrics } from "@opentelemetry/api";
import { deterministicId } from "@vvs/ids";
import { PoisonRecordError } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import type { Outbox, OutboxRecord } from "@vvs/outbox";
import { ChangeDetectedSchema, type VerificationCompleted } from "@vvs/proto/events/v1/events";
import { type Environment, toProtoTenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import { type CompletedRun, completedRunOf } from "./completed-run.ts";
import { detect, type FieldChange } from "./detect.ts";
import type { BaselineStore } from "./store.ts";

export interface RecordHandlerOptions {
  readonly environment: Environment;
  readonly client: MongoClient;
  readonly store: BaselineStore;
  readonly outbox: Outbox;
  /** Full name of the environment's monitor.change_detected topic. */
  readonly topic: string;
  /** Wakes the outbox relay. */
  readonly nudge: () => void;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Handles the records of one environment. Errors: PoisonRecordError for an invalid record; any other error may be retried. */
export interface RecordHandlers {
  /**
   * Compares a completed verification with the baselines of its monitor and publishes the changes. One transaction
   * updates the baselines, marks the verification as handled and stores the record to publish, so handling the same
   * record again has no effect.
   */
  verificationCompleted(record: VerificationCompleted): Promise<void>;
}

export function createRecordHandlers(options: RecordHandlerOptions): RecordHandlers {
  const { environment, client, store, now, logger, nudge } = options;
  const meter = metrics.getMeter("change-detector");
  const unknownChecks = meter.createCounter("monitor_unknown_checks_skipped", {
    description: "Checks skipped because this version does not know them. Expected only during a rollout.",
  });
  const compared = meter.createCounter("monitor_runs_compared", {
    description: "Runs compared with their monitor's baseline. Zero while monitors run: no verifications arrive.",
  });

  /** Makes a conflict with another organization's document a poison record; returns any other error unchanged. */
  async function conflictError(error: unknown, run: CompletedRun): Promise<unknown> {
    const checks = run.outcomes.map(({ check }) => check);
    if (!isDuplicateKey(error) || !(await store.isForeign(run.tenant, { ...run, checks }))) return error;
    const message = "the monitor or the verification belongs to another organization";
    return new PoisonRecordError(message, { cause: error });
  }

  return {
    async verificationCompleted(record) {
      const run = completedRunOf(record, environment, (check_type) =>
        unknownChecks.add(1, { environment, check_type }),
      );
      if (!run) return;
      const detectedAt = now();
      const changes = await inTransaction(client, (session) => compare(options, session, run, detectedAt)).catch(
        async (error: unknown) => Promise.reject(await conflictError(error, run)),
      );
      const outcome = !changes ? "duplicate" : changes.length > 0 ? "changed" : "unchanged";
      if (outcome === "changed") nudge();
      compared.add(1, { environment, outcome });
      logger.info(
        {
          environment,
          organization_id: run.tenant.organizationId,
          monitor_id: run.monitorId,
          run_seq: run.runSeq,
          verification_id: run.verificationId,
          outcome,
          fields: changes?.map(({ field }) => field),
        },
        "run compared",
      );
    },
  };
}

/** Returns the changes, or undefined if the verification was compared before. */
async function compare(
  { store, outbox, topic }: RecordHandlerOptions,
  session: ClientSession,
  run: CompletedRun,
  at: Date,
): Promise<readonly FieldChange[] | undefined> {
  const { tenant, monitorId } = run;
  if (!(await store.claim(tenant, session, run.verificationId, at))) return undefined;
  const baselines = await store.find(tenant, session, monitorId);
  const changes: FieldChange[] = [];
  for (const outcome of run.outcomes) {
    const detection = detect(baselines.get(outcome.check), { seq: run.runSeq, at: run.createdAt }, outcome);
    changes.push(...detection.changes);
    if (detection.baseline) {
      await store.save(tenant, session, { monitorId, check: outcome.check, baseline: detection.baseline, at });
    }
  }
  if (changes.length > 0) await outbox.append(session, changeRecord(run, changes, at, topic));
  return changes;
}

function changeRecord(run: CompletedRun, changes: readonly FieldChange[], at: Date, topic: string): OutboxRecord {
  const eventId = deterministicId("evt", run.createdAt, [run.monitorId, run.verificationId]);
  const message = create(ChangeDetectedSchema, {
    eventId,
    tenant: toProtoTenant(run.tenant),
    run: { monitorId: run.monitorId, runSeq: BigInt(run.runSeq) },
    entityId: run.entityId,
    verificationId: run.verificationId,
    changes: changes.map(({ field, previous, current }) => ({
      field,
      previous: previous ?? undefined,
      current: current ?? undefined,
    })),
    detectedAt: timestampFromDate(at),
  });
  return {
    id: eventId,
    topic,
    key: run.monitorId,
    seq: run.runSeq,
    value: toBinary(ChangeDetectedSchema, message),
  };
}
