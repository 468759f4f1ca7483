import { type CheckStatus, checkOf, statusOf } from "@vvs/checks";
import type { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";

/** Returns the public name of a check, or its number where this version does not know it yet. */
export function checkName(type: CheckType): string {
  return checkOf(type) ?? `check ${type}`;
}

/** Returns pass, fail or error; a status that this version does not know shows as an error. */
export function statusName(status: ProtoCheckStatus): CheckStatus {
  return statusOf(status) ?? "error";
}
