import type { MonitorRun } from "./provider.ts";

/**
 * Who an HTTP call of a provider is made for: `direct` for API callers, `first` for the first run of a monitor, `runs` for
 * all later runs.
 */
export const callClasses = ["direct", "first", "runs"] as const;
export type CallClass = (typeof callClasses)[number];

/** Returns the class of the calls that a question costs. */
export function callClassOf(run: Pick<MonitorRun, "runSeq"> | undefined): CallClass {
  if (!run) return "direct";
  return run.runSeq === 1 ? "first" : "runs";
}

/** Creates a value for each class. */
export function perCallClass<T>(create: (callClass: CallClass) => T): Record<CallClass, T> {
  return { direct: create("direct"), first: create("first"), runs: create("runs") };
}
