import type { Kafka } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import type { CallerContext, Environment } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { Check, CheckSubject, Mode } from "./checks.ts";
import type { CheckTask, TimeLimits } from "./conclude.ts";
import type { Conclusion } from "./conclusion.ts";
import type { VerificationDocument } from "./documents.ts";
import { passFactsOn } from "./pass-facts-on.ts";
import { type Asked, verificationRecords } from "./records.ts";
import type { VerificationStore } from "./store.ts";
import { startTimeLimit } from "./time-limit.ts";
import { toCompleted } from "./wire.ts";

/** A verification to make. */
export interface Verifying {
  readonly caller: CallerContext;
  readonly subject: CheckSubject;
  readonly checks: readonly Check[];
  readonly mode: Mode;
  /** Of a monitor's run alone. */
  readonly run?: Asked["run"];
  /** Writes into the transaction that stores the verification. */
  readonly complete?: (session: ClientSession, verificationId: string) => Promise<void>;
}

export interface Verifier {
  /** Runs the checks at once and stores what they come to. Errors: the store's, DuplicateRunError. */
  verify(verifying: Verifying): Promise<VerificationDocument>;
  /** Stores checks that could not even begin. */
  refuse(verifying: Verifying, reason: string): Promise<VerificationDocument>;
}

/** Makes verifications: concludes the checks, stores everything in one transaction, and passes facts on. */
export function createVerifier(options: {
  store: Pick<VerificationStore, "save">;
  entities: Pick<Client<typeof EntityService>, "updateFromProvider">;
  conclude: (check: Check, task: CheckTask) => Promise<Conclusion>;
  topicFor: Kafka["topicFor"];
  /** There is something new to publish. */
  onStored: (environment: Environment) => void;
  limits: Pick<TimeLimits, "callMs">;
  now: () => Date;
  logger: Logger;
}): Verifier {
  const { store, entities, conclude, now, logger } = options;

  async function save(verifying: Verifying, conclusions: readonly Conclusion[], began: number) {
    const { caller, subject, mode, run, complete } = verifying;
    const { tenant, actor, requestId } = caller;
    const asked = { tenant, entityId: subject.entityId, mode, actor, requestId, run };
    const records = verificationRecords(asked, conclusions, now());
    const { verification } = records;
    await store.save(
      tenant,
      records,
      {
        id: verification._id,
        topic: options.topicFor(tenant.environment, "verification.completed"),
        key: run ? run.monitorId : verification._id,
        seq: run?.runSeq,
        value: toCompleted(tenant, records),
      },
      async (session) => complete?.(session, verification._id),
    );
    options.onStored(tenant.environment);
    logger.info(lineOf(tenant.environment, verification, performance.now() - began), "verified");
    await passFactsOn({ entities, caller, subject, conclusions, now, logger });
    return verification;
  }

  return {
    async verify(verifying) {
      const began = performance.now();
      const { caller, subject, mode, run } = verifying;
      const limit = startTimeLimit(options.limits.callMs);
      try {
        const task: CheckTask = { caller, subject, mode, run, signal: limit.signal };
        const conclusions = await Promise.all(verifying.checks.map((check) => conclude(check, task)));
        return await save(verifying, conclusions, began);
      } finally {
        limit.release();
      }
    },
    refuse: (verifying, reason) =>
      save(
        verifying,
        verifying.checks.map((check) => ({ kind: "error", check, fingerprint: "", reason, attempts: [] })),
        performance.now(),
      ),
  };
}

function lineOf(environment: Environment, verification: VerificationDocument, durationMs: number) {
  return {
    environment,
    organization_id: verification.organization_id,
    verification_id: verification._id,
    entity_id: verification.entity_id,
    actor: verification.actor,
    request_id: verification.request_id || undefined,
    monitor_id: verification.run?.monitor_id,
    run_seq: verification.run?.run_seq,
    mode: verification.mode,
    overall_result: verification.overall_result,
    checks: verification.results.map(({ check_type, status, origin, reason }) => ({
      check_type,
      status,
      origin,
      reason,
    })),
    duration_ms: Math.round(durationMs),
  };
}
