import type { CheckStatus } from "./checks.ts";

/** Any fail is fail, else any error is error, else pass. */
export function overallResult(statuses: readonly CheckStatus[]): CheckStatus {
  if (statuses.includes("fail")) return "fail";
  return statuses.includes("error") ? "error" : "pass";
}

/** How old the data of an answer is at a time, in whole seconds; 0 for data dated later. */
export function dataFreshnessSeconds(createdAt: Date, dataDate: Date): number {
  return Math.max(0, Math.floor((createdAt.getTime() - dataDate.getTime()) / 1_000));
}
