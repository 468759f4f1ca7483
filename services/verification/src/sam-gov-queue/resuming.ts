import { context, propagation, ROOT_CONTEXT } from "@opentelemetry/api";
import type { ParkedRun } from "../questions/documents.ts";
import type { ParkedRuns } from "./parked-runs.ts";

/**
 * Creates the worker that verifies ready runs. Each round claims some and verifies them, until none is left; it returns how
 * long to wait for the next round, in milliseconds. Runs of a replica that died are claimed again when their lease has
 * ended. Errors: those of `verify`; the run stays, and is tried again when its lease has ended.
 */
export function createResuming(options: {
  parkedRuns: Pick<ParkedRuns, "claimReady">;
  /** Unique name of this process. */
  owner: string;
  /** Takes the runs with tin_match, or those without: a slow TIN provider must not delay the others. */
  withTin: boolean;
  /** Verifies a run and removes it. */
  verify: (run: ParkedRun) => Promise<void>;
  /** Maximum number of runs that are verified at the same time. */
  atOnce: number;
  pollMs: number;
  leaseMs: number;
  isStopping: () => boolean;
}): { round: () => Promise<number> } {
  const { parkedRuns, owner, withTin, verify, atOnce, pollMs, leaseMs, isStopping } = options;
  const inTrace = (run: ParkedRun) =>
    context.with(propagation.extract(ROOT_CONTEXT, { traceparent: run.traceparent }), () => verify(run));
  return {
    async round() {
      for (;;) {
        const runs = await parkedRuns.claimReady({ owner, limit: atOnce, leaseMs, withTin });
        const ended = await Promise.allSettled(runs.map(inTrace));
        const failed = ended.find((each) => each.status === "rejected");
        if (failed) throw failed.reason;
        if (runs.length < atOnce || isStopping()) return pollMs;
      }
    },
  };
}
