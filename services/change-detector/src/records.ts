import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { metrics } from "@opentelemetry/api";
import { deterministicId } from "@vvs/ids";
import { changeMessages, type FieldChange, PoisonRecordError } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import { createOutbox, type OutboxRecord } from "@vvs/outbox";
import { ChangeDetectedSchema, type VerificationCompleted } from "@vvs/proto/events/v1/events";
import { type Environment, toProtoTenant } from "@vvs/tenant";
import type { ClientSession, Db, MongoClient } from "mongodb";
import { type CompletedRun, completedRunOf } from "./completed-run.ts";
import { detect } from "./detect.ts";
import { createBaselineStore } from "./store.ts";

/**
 * Creates the handler of one environment's completed verifications. It compares each with the baselines of its monitor and
 * publishes the changes. One transaction updates the baselines, marks the verification as handled and stores the record to
 * publish, so handling the same record again has no effect. Errors: PoisonRecordError for an invalid record; any other
 * error may be retried.
 */
export function createHandleCompleted(options: {
  environment: Environment;
  client: MongoClient;
  db: Db;
  /** Full name of the environment's monitor.change_detected topic. */
  topic: string;
  /** Wakes the outbox relay. */
  nudge: () => void;
  now: () => Date;
  logger: Logger;
}): (record: VerificationCompleted) => Promise<void> {
  const { environment, client, db, topic, now, logger, nudge } = options;
  const store = createBaselineStore(db);
  const outbox = createOutbox({ db });
  const unknownChecks = metrics.getMeter("change-detector").createCounter("monitor_unknown_checks_skipped", {
    description: "Checks skipped because this version does not know them. Expected only during a rollout.",
  });

  async function compare(session: ClientSession, run: CompletedRun, at: Date): Promise<FieldChange[]> {
    const { tenant, monitorId } = run;
    await store.claim(tenant, session, run.verificationId, at);
    const baselines = await store.find(tenant, session, monitorId);
    const changes: FieldChange[] = [];
    for (const outcome of run.outcomes) {
      const { check } = outcome;
      const detection = detect(baselines.get(check), { seq: run.runSeq, at: run.createdAt }, outcome);
      changes.push(...detection.changes);
      const { baseline } = detection;
      if (baseline) await store.save(tenant, session, { monitorId, check, baseline, at });
    }
    if (changes.length > 0) await outbox.append(session, changeRecord(run, changes, at, topic));
    return changes;
  }

  /** Returns the changes, or undefined if the verification was compared before. */
  async function compareOnce(run: CompletedRun, at: Date): Promise<FieldChange[] | undefined> {
    try {
      return await inTransaction(client, (session) => compare(session, run, at));
    } catch (cause) {
      const checks = run.outcomes.map(({ check }) => check);
      const conflict = isDuplicateKey(cause) && (await store.conflictOf(run.tenant, { ...run, checks }));
      if (!conflict) throw cause;
      if (conflict === "handled") return undefined;
      throw new PoisonRecordError("the monitor or the verification belongs to another organization", { cause });
    }
  }

  return async (record) => {
    const run = completedRunOf(record, environment, (check_type) => unknownChecks.add(1, { environment, check_type }));
    if (!run) return;
    const changes = await compareOnce(run, now());
    if (changes && changes.length > 0) nudge();
    logger.info(
      {
        environment,
        organization_id: run.tenant.organizationId,
        monitor_id: run.monitorId,
        run_seq: run.runSeq,
        verification_id: run.verificationId,
        outcome: !changes ? "duplicate" : changes.length > 0 ? "changed" : "unchanged",
        fields: changes?.map(({ field }) => field),
      },
      "run compared",
    );
  };
}

function changeRecord(run: CompletedRun, changes: readonly FieldChange[], at: Date, topic: string): OutboxRecord {
  const eventId = deterministicId("evt", run.createdAt, [run.monitorId, run.verificationId]);
  const message = create(ChangeDetectedSchema, {
    eventId,
    tenant: toProtoTenant(run.tenant),
    run: { monitorId: run.monitorId, runSeq: BigInt(run.runSeq) },
    entityId: run.entityId,
    verificationId: run.verificationId,
    externalId: run.externalId,
    entityName: run.entityName,
    changes: changeMessages(changes),
    detectedAt: timestampFromDate(at),
  });
  const value = toBinary(ChangeDetectedSchema, message);
  return { id: eventId, topic, key: run.monitorId, seq: run.runSeq, value };
}
