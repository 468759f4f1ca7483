import { type Check, checkOf, statusOf } from "@vvs/checks";
import { PoisonRecordError, runIn, tenantIn, timeIn } from "@vvs/kafka";
import type { CheckType } from "@vvs/proto/common/v1/common";
import type { CheckOutcome, RegistrationParts, VerificationCompleted } from "@vvs/proto/events/v1/events";
import { type Parts, partsFromMessage } from "@vvs/registration";
import type { Environment, Tenant } from "@vvs/tenant";
import type { Outcome } from "./detect.ts";

/** The completed verification of a monitor's run. */
export interface CompletedRun {
  readonly tenant: Tenant;
  readonly monitorId: string;
  readonly runSeq: number;
  readonly verificationId: string;
  readonly entityId: string;
  /** The organization's own number of the entity; empty where it gave none. */
  readonly externalId: string;
  /** The entity's legal name; empty where it is not known. */
  readonly entityName: string;
  /** When the verification was stored. */
  readonly createdAt: Date;
  readonly outcomes: readonly Outcome[];
}

/**
 * Reads a record of the environment's topic. Returns undefined for the verification of an API call, which has no
 * baseline. Checks that only a newer version knows are passed to `onUnknown` and left out. Errors: PoisonRecordError if
 * a required field is missing, no check is known, or the record belongs to the other environment.
 */
export function completedRunOf(
  record: VerificationCompleted,
  environment: Environment,
  onUnknown: (check: CheckType) => void,
): CompletedRun | undefined {
  const tenant = tenantIn(record, environment);
  if (!record.run) return undefined;
  const outcomes = record.checks.flatMap((outcome) => {
    const check = checkOf(outcome.checkType);
    if (!check) onUnknown(outcome.checkType);
    return check ? [outcomeOf(check, outcome)] : [];
  });
  if (!record.verificationId || !record.entityId || outcomes.length === 0) {
    throw new PoisonRecordError("the record has no verification id, no entity id or no known check");
  }
  return {
    tenant,
    ...runIn(record),
    verificationId: record.verificationId,
    entityId: record.entityId,
    externalId: record.externalId,
    entityName: record.entityName,
    createdAt: timeIn(record.createdAt),
    outcomes,
  };
}

function outcomeOf(check: Check, outcome: CheckOutcome): Outcome {
  const status = statusOf(outcome.status);
  if (!status) throw new PoisonRecordError("the record has a check with an unknown status");
  return {
    check,
    status,
    reason: outcome.reason,
    inputsFingerprint: outcome.inputsFingerprint,
    tinFingerprint: outcome.tinFingerprint,
    facts: outcome.facts,
    ...(outcome.parts && { parts: readParts(outcome.parts) }),
    withdrawnLoads: outcome.parts?.withdrawnLoads ?? [],
  };
}

function readParts(parts: RegistrationParts): Parts {
  try {
    return partsFromMessage(parts);
  } catch (cause) {
    throw new PoisonRecordError("the record has an invalid registration part", { cause });
  }
}
