import type { CheckStatus } from "@vvs/checks";

/** Returns fail where any check failed, else error where any had an error, else pass. */
export function overallResult(statuses: readonly CheckStatus[]): CheckStatus {
  if (statuses.includes("fail")) return "fail";
  return statuses.includes("error") ? "error" : "pass";
}
