import type { Check } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import type { Kafka } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import type { CallerContext, Environment } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { Mode, VerificationDocument } from "../documents.ts";
import { toCompleted } from "../messages.ts";
import type { VerificationStore } from "../store.ts";
import { startTimeLimit } from "../time-limit.ts";
import type { CheckSubject } from "./check-inputs.ts";
import type { CheckTask, TimeLimits } from "./conclude.ts";
import type { Conclusion } from "./conclusion.ts";
import type { FactForwarder } from "./forward-facts.ts";
import { type VerificationContext, verificationRecords } from "./records.ts";

/** A request to verify one entity. */
export interface VerificationRequest {
  /** When the call or the run began, by `performance.now()`; its time limit starts then. */
  readonly began: number;
  readonly caller: CallerContext;
  readonly subject: CheckSubject;
  /** The TIN that the call itself supplied; empty where it supplied none. */
  readonly suppliedTin: string;
  readonly checks: readonly Check[];
  readonly mode: Mode;
  /** Only for a monitor's run. */
  readonly run?: VerificationContext["run"];
  /** Writes into the transaction that stores the verification. */
  readonly complete?: (session: ClientSession, verificationId: string) => Promise<void>;
}

export interface Verifier {
  /**
   * Runs the checks concurrently and stores their results. Errors: the store's, DuplicateRunError; service_unavailable
   * where our own data could not be read in time: nothing is stored then.
   */
  verify(request: VerificationRequest): Promise<VerificationDocument>;
  /** Stores a verification whose checks all have this error, without asking any provider. */
  refuse(request: VerificationRequest, reason: string): Promise<VerificationDocument>;
}

/** Verifies entities: concludes the checks, stores everything in one transaction, and forwards new facts. */
export function createVerifier(options: {
  store: Pick<VerificationStore, "save">;
  facts: Pick<FactForwarder, "forward">;
  conclude: (check: Check, task: CheckTask) => Promise<Conclusion>;
  topicFor: Kafka["topicFor"];
  /** Called when a verification was stored, so that it can be published. */
  onStored: (environment: Environment) => void;
  limits: Pick<TimeLimits, "callMs">;
  now: () => Date;
  logger: Logger;
}): Verifier {
  const { store, facts, conclude, now, logger } = options;

  async function save(request: VerificationRequest, conclusions: readonly Conclusion[]) {
    const { began, caller, subject, mode, run, complete } = request;
    const { tenant, actor, requestId } = caller;
    const context = { tenant, entityId: subject.entityId, mode, actor, requestId, run };
    const records = verificationRecords(context, conclusions, now());
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
    logger.info(logFieldsOf(tenant.environment, verification, performance.now() - began), "verified");
    facts.forward({ caller, subject, conclusions });
    return verification;
  }

  return {
    async verify(request) {
      const { began, caller, subject, suppliedTin, mode, run } = request;
      const leftMs = began + options.limits.callMs - performance.now();
      // No provider was asked yet, so the verification must not be stored as an error.
      if (leftMs <= 0) throw new ServiceError("service_unavailable", { retryAfterSeconds: 1 });
      const limit = startTimeLimit(leftMs);
      try {
        const task: CheckTask = { caller, subject, suppliedTin, mode, run, signal: limit.signal };
        const conclusions = await Promise.all(request.checks.map((check) => conclude(check, task)));
        return await save(request, conclusions);
      } finally {
        limit.release();
      }
    },
    refuse: (request, reason) =>
      save(
        request,
        request.checks.map((check) => ({ kind: "error", check, fingerprint: "", reason, attempts: [] })),
      ),
  };
}

function logFieldsOf(environment: Environment, verification: VerificationDocument, durationMs: number) {
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
