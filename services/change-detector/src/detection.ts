import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { metrics } from "@opentelemetry/api";
import { deterministicId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import type { Outbox } from "@vvs/outbox";
import { ChangeDetectedSchema, type VerificationCompleted } from "@vvs/proto/events/v1/events";
import { type Environment, toProtoTenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import { type CompletedRun, completedRunOf } from "./completed-run.ts";
import { detect, type FieldChange } from "./detect.ts";
import type { BaselineStore } from "./store.ts";

export interface DetectionOptions {
  readonly environment: Environment;
  readonly client: MongoClient;
  readonly store: BaselineStore;
  readonly outbox: Outbox;
  /** The full name of the environment's monitor.change_detected. */
  readonly topic: string;
  /** Tells the relay that there may be something to publish. */
  readonly nudge: () => void;
  readonly now: () => Date;
  readonly logger: Logger;
}

/**
 * Compares a completed verification with its monitor's baselines, and publishes what changed. One transaction moves the
 * baselines, remembers the verification and stores the record: repeating it has no effect. Errors: PoisonRecordError
 * for a record that can't be; anything else is worth another attempt.
 */
export function createDetection(options: DetectionOptions): (record: VerificationCompleted) => Promise<void> {
  const { environment, client, now, logger, nudge } = options;
  const compared = metrics.getMeter("change-detector").createCounter("monitor_runs_compared", {
    description: "Runs compared with their monitor's baseline. None while monitors run: verifications don't get here.",
  });
  return async (record) => {
    const run = completedRunOf(record, environment);
    if (!run) return;
    const detectedAt = now();
    const changes = await inTransaction(client, (session) => compare(options, session, run, detectedAt));
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
  };
}

/** What changed; undefined where the verification was compared before. */
async function compare(
  { store, outbox, topic }: DetectionOptions,
  session: ClientSession,
  run: CompletedRun,
  at: Date,
): Promise<readonly FieldChange[] | undefined> {
  const { tenant, monitorId } = run;
  if (!(await store.claim(tenant, session, run.verificationId, at))) return undefined;
  const baselines = await store.find(tenant, session, monitorId);
  const changes: FieldChange[] = [];
  for (const outcome of run.outcomes) {
    const detection = detect(baselines.get(outcome.check), run.runSeq, outcome);
    changes.push(...detection.changes);
    if (detection.baseline) {
      await store.save(tenant, session, { monitorId, check: outcome.check, baseline: detection.baseline, at });
    }
  }
  if (changes.length > 0) await outbox.append(session, changeDetected(run, changes, at, topic));
  return changes;
}

function changeDetected(run: CompletedRun, changes: readonly FieldChange[], at: Date, topic: string) {
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
