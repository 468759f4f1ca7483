import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";

/** The checks by their public names, in the order in which forms and pages show them. */
export const checkTypes = {
  sam_registration: CheckType.SAM_REGISTRATION,
  tin_match: CheckType.TIN_MATCH,
} as const;

export type CheckName = keyof typeof checkTypes;

export const checkNames = Object.keys(checkTypes) as CheckName[];

/** The public name of a check; one that this version does not know yet by its number. */
export function checkName(type: CheckType): string {
  return checkNames.find((name) => checkTypes[name] === type) ?? `check ${type}`;
}

/** pass, fail or error. */
export function statusName(status: CheckStatus): "pass" | "fail" | "error" {
  if (status === CheckStatus.PASS) return "pass";
  return status === CheckStatus.FAIL ? "fail" : "error";
}
