import { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";
import type { ErrorReason } from "./reasons.ts";

export {
  type ErrorReason,
  type FailReason,
  type Reason,
  reasonAnchor,
  reasonOf,
  reasons,
  resultReasons,
  type ThrowReason,
  whatToDo,
} from "./reasons.ts";

/** A check, by the name that the public API and stored documents use. */
export type Check = "sam_registration" | "tin_match";

/** What every service knows of a check. */
interface CheckDefinition {
  /** Its number on gRPC and Kafka. */
  readonly type: CheckType;
  /** Its name, for people. */
  readonly title: string;
  /** The question it answers, for people. */
  readonly question: string;
  /** The fields whose changes a monitor reports, in this order. Confidence, origin and freshness are never reported. */
  readonly watchedFields: readonly string[];
}

/** All checks. CONTRIBUTING.md lists what else a new one needs. */
export const checkDefinitions = {
  sam_registration: {
    type: CheckType.SAM_REGISTRATION,
    title: "SAM.gov registration",
    question: "Is the vendor registered in SAM.gov, unexpired and not excluded?",
    watchedFields: [
      "status",
      "registration_status",
      "expiration_date",
      "legal_name",
      "cage",
      "entity_type",
      "exclusion_effect",
    ],
  },
  tin_match: {
    type: CheckType.TIN_MATCH,
    title: "TIN match",
    question: "Do the name and the TIN match in the IRS’s records?",
    watchedFields: ["status", "reason", "tin", "name"],
  },
} as const satisfies Record<Check, CheckDefinition>;

/** All names, in the order in which forms and pages show them. */
export const checkNames = Object.keys(checkDefinitions) as [Check, ...Check[]];

/** Returns a check's number on gRPC and Kafka. */
export function toCheckType(check: Check): CheckType {
  return checkDefinitions[check].type;
}

/** Returns the check of a number, or undefined for one that only a newer version of the product knows. */
export function checkOf(type: CheckType): Check | undefined {
  return checkNames.find((name) => checkDefinitions[name].type === type);
}

/** Public reasons of checks that lack an input, which the organization can supply. */
export const missingInputs = ["missing_uei", "missing_tin", "missing_name"] as const satisfies ErrorReason[];

export type MissingInput = (typeof missingInputs)[number];

/** Public reasons of checks for which no provider was asked though no input is missing. No provider is at fault. */
export const refusedQuestions = ["not_enabled", "not_configured", "too_many_attempts"] as const satisfies ErrorReason[];

/** The outcome of a check or of a whole verification. `error` says nothing about the vendor: nothing answered. */
export type CheckStatus = "pass" | "fail" | "error";

const statuses: Readonly<Record<CheckStatus, ProtoCheckStatus>> = {
  pass: ProtoCheckStatus.PASS,
  fail: ProtoCheckStatus.FAIL,
  error: ProtoCheckStatus.ERROR,
};

/** Returns a status's number on gRPC and Kafka. */
export function toProtoStatus(status: CheckStatus): ProtoCheckStatus {
  return statuses[status];
}

/** Returns the status of a number, or undefined for one that only a newer version of the product knows. */
export function statusOf(value: ProtoCheckStatus): CheckStatus | undefined {
  return (Object.keys(statuses) as CheckStatus[]).find((name) => statuses[name] === value);
}
