import type { CheckStatus } from "@vvs/checks";

/** Returns fail where any check failed, else error where any had an error, else pass. */
export function overallResult(statuses: readonly CheckStatus[]): CheckStatus {
  if (statuses.includes("fail")) return "fail";
  return statuses.includes("error") ? "error" : "pass";
}

/** Returns the age of an answer's data, in whole seconds; 0 for data dated later. */
export function dataFreshnessSeconds(createdAt: Date, dataDate: Date): number {
  return Math.max(0, Math.floor((createdAt.getTime() - dataDate.getTime()) / 1_000));
}
