import type { Environment } from "@vvs/tenant";
import type { VerificationDocument } from "./documents.ts";

const DAY_MS = 86_400_000;

/** Days for which verifications are kept with their evidence, unless something still names them later. */
export interface KeptDays {
  /** Those that a realtime call asked for, a monitor's first run, and those that failed. */
  readonly lasting: number;
  /** Those of cached calls that did not fail, those without any answer, and a monitor's later runs that did not fail. */
  readonly repeated: number;
  /** The sandbox's runs. */
  readonly sandboxRuns: number;
  /** At least so many, apart from the sandbox's runs. */
  readonly least: number;
}

/** What decides how long a verification is kept. */
export type KeptVerification = Pick<VerificationDocument, "mode" | "overall_result" | "results" | "run" | "created_at">;

/** Returns until when a verification is kept if nothing names it. An event names a run that changed something. */
export function keptUntil(verification: KeptVerification, environment: Environment, days: KeptDays): Date {
  const { created_at, run } = verification;
  const isSandboxRun = run !== undefined && environment === "sandbox";
  const kept = isSandboxRun
    ? days.sandboxRuns
    : Math.max(days.least, isLasting(verification) ? days.lasting : days.repeated);
  return new Date(created_at.getTime() + kept * DAY_MS);
}

function isLasting({ mode, overall_result, results, run }: KeptVerification): boolean {
  if (overall_result === "fail") return true;
  if (results.every(({ status }) => status === "error")) return false;
  return run ? run.run_seq === 1 : mode === "realtime";
}
