import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";

/** The checks by the names that clients use. */
export const checkTypes = {
  sam_registration: CheckType.SAM_REGISTRATION,
  tin_match: CheckType.TIN_MATCH,
} as const;

export type CheckName = keyof typeof checkTypes;

export const checkNames = Object.keys(checkTypes) as [CheckName, ...CheckName[]];

/** The name of a check. Errors: a check this gateway does not know. */
export function renderCheck(type: CheckType): CheckName {
  const name = checkNames.find((candidate) => checkTypes[candidate] === type);
  if (!name) throw new Error(`unknown check type ${type}`);
  return name;
}

/** pass, fail or error. Errors: a status this gateway does not know. */
export function renderStatus(status: CheckStatus): "pass" | "fail" | "error" {
  if (status === CheckStatus.PASS) return "pass";
  if (status === CheckStatus.FAIL) return "fail";
  if (status === CheckStatus.ERROR) return "error";
  throw new Error(`unknown check status ${status}`);
}
