import { type Check, type CheckStatus, checkOf, statusOf } from "@vvs/checks";
import type { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";

/** Returns the public name of a check, or its number where this version does not know it yet. */
export function checkName(type: CheckType): string {
  return checkOf(type) ?? `check ${type}`;
}

const titles: Readonly<Record<Check, string>> = {
  sam_registration: "SAM.gov registration",
  tin_match: "TIN match",
};

/** Returns the name of a check for people. */
export function checkTitle(type: CheckType): string {
  const check = checkOf(type);
  return check ? titles[check] : checkName(type);
}

/** Returns pass, fail or error; a status that this version does not know shows as an error. */
export function statusName(status: ProtoCheckStatus): CheckStatus {
  return statusOf(status) ?? "error";
}
