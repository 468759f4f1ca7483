import type { Check, ErrorReason } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { inParts } from "@vvs/fair-queue";
import type { HeldKey } from "@vvs/idempotency";
import { type Kafka, topicNames } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { type OutboxRecord, withActiveTrace } from "@vvs/outbox";
import type { Environment, Tenant } from "@vvs/tenant";
import { type ClientSession, ObjectId } from "mongodb";
import type { VerificationDocument } from "../documents.ts";
import type { CompletedRow } from "../open-rows.ts";
import type { ReadExclusions } from "../providers/known-exclusions.ts";
import type { KnownExclusions } from "../providers/provider.ts";
import { canShowPass } from "../providers/sam-gov/stale-data.ts";
import type { Asking } from "../questions/question.ts";
import { withTimeLimit } from "../time-limit.ts";
import { toCompleted } from "./completed-records.ts";
import type { CheckTask, Conclude, Conclusion, TimeLimits } from "./conclude.ts";
import type { FactForwarder } from "./forward-facts.ts";
import { isSameButForSigns } from "./payment.ts";
import { type Concluded, type Saving, verificationRecords } from "./records.ts";

/** A request to verify one entity. */
export interface VerificationRequest extends CheckTask {
  /** When the call or the run began, by `performance.now()`; its time limit starts then. */
  readonly began: number;
  readonly checks: readonly Check[];
  /** The call's Idempotency-Key; absent where it has none. */
  readonly key?: HeldKey | undefined;
  /** Writes into the transaction that stores the verification. */
  readonly complete?: ((session: ClientSession) => Promise<void>) | undefined;
  /** Only for a job's row: returns it with its last answer. */
  readonly completeRow?: ((verification: VerificationDocument) => CompletedRow) | undefined;
}

/** Why a job's row is not verified yet: what to ask of SAM.gov's API, or the reasons of checks that no source could answer. */
export type Waiting = { readonly asking: Asking } | { readonly reasons: readonly string[] };

export interface Verifier {
  /**
   * Runs the checks concurrently and stores their results. Errors: the store's, DuplicateRunError; service_unavailable
   * where our own data could not be read in time, NothingStoredError: nothing is stored then.
   */
  verify(request: VerificationRequest): Promise<VerificationDocument>;
  /**
   * Verifies for a run like `verify`, unless asking SAM.gov's API helps: then it returns what to ask, nothing is stored, and
   * no provider of another check was asked.
   */
  verifyUnlessAsking(request: VerificationRequest): Promise<Asking | undefined>;
  /**
   * Verifies a job's row like `verifyUnlessAsking`, unless a check ends in an error after which `mustWait`, by its reason: then
   * nothing is stored either.
   */
  verifyRow(
    request: VerificationRequest,
    mustWait: (reason: string) => boolean,
  ): Promise<VerificationDocument | Waiting>;
  /** Stores a verification whose checks all have this error, without asking any provider. */
  refuse(request: VerificationRequest, reason: ErrorReason): Promise<VerificationDocument>;
}

/** Verifies entities: concludes the checks, stores everything in one transaction, and forwards new facts. */
export function createVerifier(options: {
  store: {
    /** Stores a verification, all or nothing. Errors: DuplicateRunError. */
    readonly save: (tenant: Tenant, saving: Saving) => Promise<void>;
  };
  facts: Pick<FactForwarder, "forward">;
  conclude: Conclude;
  readExclusions: ReadExclusions;
  topicFor: Kafka["topicFor"];
  /** Called with the record of a verification that was stored, so that it can be published. */
  onStored: (environment: Environment, completed: OutboxRecord) => void;
  limits: Pick<TimeLimits, "callMs">;
  now: () => Date;
  logger: Logger;
}): Verifier {
  const { store, facts, conclude, now, logger } = options;

  async function save(request: VerificationRequest, concluded: Concluded) {
    const { tenant } = request.caller;
    const { environment } = tenant;
    const at = now();
    const records = verificationRecords(request, concluded, at);
    const { verification } = records;
    const { _id: id, run } = verification;
    const topic = options.topicFor(
      environment,
      run ? topicNames.verificationCompleted : topicNames.verificationCompletedDirect,
    );
    const value = toCompleted(tenant, records, request.subject);
    // The records of a monitor have an order, which only the relay's read keeps.
    const place = run
      ? { key: run.monitor_id, seq: run.run_seq }
      : { key: id, rowId: new ObjectId(ObjectId.generate(Math.floor(at.getTime() / 1_000))) };
    const completed = withActiveTrace({ id, topic, value, ...place });
    const { key, complete, completeRow } = request;
    await store.save(tenant, { records, completed, key, complete, row: completeRow?.(verification) });
    options.onStored(environment, completed);
    const duration_ms = Math.round(performance.now() - request.began);
    logger.info({ environment, ...logFieldsOf(verification), duration_ms }, "verified");
    facts.forward(request, concluded.conclusions);
    return verification;
  }

  /** Runs `work` within the time that the call has left. */
  function inTime<T>(request: VerificationRequest, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const leftMs = request.began + options.limits.callMs - performance.now();
    // No provider was asked yet, so the verification must not be stored as an error.
    if (leftMs <= 0) throw new ServiceError("service_unavailable", { retryAfterSeconds: 1 });
    return withTimeLimit(leftMs, undefined, work);
  }

  /**
   * Reads the exclusions that no check looks up now: of a job's row, and of a direct call that a stored answer would have paid,
   * by a name that the answer was perhaps not looked up by. Where the files can't tell, the stored answer does while it is fresh.
   */
  async function readUnchecked(
    request: VerificationRequest,
    conclusions: readonly Conclusion[],
    signal: AbortSignal,
  ): Promise<KnownExclusions | undefined> {
    const { row, givenName = "", subject } = request;
    const registration = conclusions.find(({ check }) => check === "sam_registration");
    if (registration && registration.kind !== "stored") return undefined;
    const { details, parts } = registration?.stored ?? {};
    const registered = { uei: parts?.registration?.uei ?? "", cage: details?.cage ?? "" };
    const answered = details?.legal_name ?? "";
    if (!row) {
      const isOther = registration && givenName !== "" && !isSameButForSigns(answered, givenName);
      if (!isOther) return undefined;
      const { payment } = verificationRecords(request, { conclusions }, now()).verification;
      if (payment?.decision !== "pay") return undefined;
    }
    const { uei, cage, entityName = "" } = subject;
    const names = [...new Set([givenName, entityName, answered])].filter((name) => name !== "");
    const tenant = request.caller.tenant;
    const { isExcluded, sameName } = await options.readExclusions({ tenant, uei, cage, names, registered }, signal);
    return { isExcluded: isExcluded ?? (canShowPass(parts?.exclusions, now()) ? false : undefined), sameName };
  }

  /** Concludes checks concurrently, except those that are concluded already. */
  function concludeAll(
    checks: readonly Check[],
    request: VerificationRequest,
    signal: AbortSignal,
    firsts: readonly Conclusion[] = [],
  ): Promise<Conclusion[]> {
    const conclusionOf = async (check: Check) =>
      firsts.find((each) => each.check === check) ?? conclude(check, request, signal);
    return inParts(checks.map((check) => () => conclusionOf(check)));
  }

  /** Concludes the checks, unless asking SAM.gov's API helps: then it returns what to ask, and asked no provider of others. */
  function concludeUnlessAsking(request: VerificationRequest): Promise<{ readonly asking: Asking } | Concluded> {
    const isFirst = (check: Check) => check === "sam_registration";
    return inTime(request, async (signal) => {
      const firsts = await concludeAll(request.checks.filter(isFirst), request, signal);
      const asking = firsts.map((each) => (each.kind === "error" ? each.asking : undefined)).find((each) => each);
      if (asking) return { asking };
      const exclusions = await readUnchecked(request, firsts, signal);
      const conclusions = await concludeAll(request.checks, request, signal, firsts);
      return { conclusions, exclusions };
    });
  }

  return {
    async verify(request) {
      const concluded = await inTime(request, async (signal) => {
        const conclusions = await concludeAll(request.checks, request, signal);
        return { conclusions, exclusions: await readUnchecked(request, conclusions, signal) };
      });
      return save(request, concluded);
    },
    async verifyUnlessAsking(request) {
      const concluded = await concludeUnlessAsking(request);
      if ("asking" in concluded) return concluded.asking;
      await save(request, concluded);
      return undefined;
    },
    async verifyRow(request, mustWait) {
      const concluded = await concludeUnlessAsking(request);
      if ("asking" in concluded) return concluded;
      const errors = concluded.conclusions.flatMap((each) => (each.kind === "error" ? each.reason : []));
      const reasons = errors.filter(mustWait);
      return reasons.length > 0 ? { reasons } : save(request, concluded);
    },
    refuse(request, reason) {
      const refused = { kind: "error", fingerprint: "", reason, attempts: [] } as const;
      return save(request, { conclusions: request.checks.map((check) => ({ check, ...refused })) });
    },
  };
}

function logFieldsOf({ _id, run, results, ...verification }: VerificationDocument) {
  return {
    organization_id: verification.organization_id,
    verification_id: _id,
    entity_id: verification.entity_id,
    actor: verification.actor,
    request_id: verification.request_id || undefined,
    ...run,
    mode: verification.mode,
    overall_result: verification.overall_result,
    checks: results.map(({ check_type, status, origin, reason }) => ({ check_type, status, origin, reason })),
  };
}
