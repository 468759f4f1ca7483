import { timestampDate } from "@bufbuild/protobuf/wkt";
import { PoisonRecordError } from "@vvs/kafka";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import type { CheckOutcome, VerificationCompleted } from "@vvs/proto/events/v1/events";
import { type Environment, type Tenant, tenantOf } from "@vvs/tenant";
import type { Check, Outcome } from "./detect.ts";

/** A verification that a monitor's run asked for. */
export interface CompletedRun {
  readonly tenant: Tenant;
  readonly monitorId: string;
  readonly runSeq: number;
  readonly verificationId: string;
  readonly entityId: string;
  /** When the verification was stored. */
  readonly createdAt: Date;
  readonly outcomes: readonly Outcome[];
}

/**
 * Reads a record of the environment's topic; undefined for the verification of an API call, which no baseline follows.
 * Errors: PoisonRecordError where it lacks what every such record has, or belongs to the other environment.
 */
export function completedRunOf(record: VerificationCompleted, environment: Environment): CompletedRun | undefined {
  if (!record.run) return undefined;
  const { monitorId, runSeq } = record.run;
  if (!monitorId || runSeq < 1n) throw new PoisonRecordError("the record names no run");
  if (!record.verificationId || !record.createdAt) throw new PoisonRecordError("the record names no verification");
  return {
    tenant: tenantIn(record, environment),
    monitorId,
    runSeq: Number(runSeq),
    verificationId: record.verificationId,
    entityId: record.entityId,
    createdAt: timestampDate(record.createdAt),
    outcomes: record.checks.map(outcomeOf),
  };
}

function tenantIn(record: VerificationCompleted, environment: Environment): Tenant {
  const tenant = readTenant(record);
  if (tenant.environment !== environment) throw new PoisonRecordError("the record belongs to the other environment");
  return tenant;
}

function readTenant(record: VerificationCompleted): Tenant {
  try {
    return tenantOf(record.tenant);
  } catch (cause) {
    throw new PoisonRecordError("the record names no tenant", { cause });
  }
}

function outcomeOf(outcome: CheckOutcome): Outcome {
  return {
    check: checkOf(outcome.checkType),
    status: statusOf(outcome.status),
    reason: outcome.reason,
    inputsFingerprint: outcome.inputsFingerprint,
    facts: outcome.facts,
  };
}

function checkOf(type: CheckType): Check {
  if (type === CheckType.SAM_REGISTRATION) return "sam_registration";
  if (type === CheckType.TIN_MATCH) return "tin_match";
  throw new PoisonRecordError("the record has a check of no known type");
}

function statusOf(status: CheckStatus): Outcome["status"] {
  if (status === CheckStatus.PASS) return "pass";
  if (status === CheckStatus.FAIL) return "fail";
  if (status === CheckStatus.ERROR) return "error";
  throw new PoisonRecordError("the record has a check of no known status");
}
