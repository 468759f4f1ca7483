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

/** What a provider's calls are counted by. */
export interface ProviderAccount {
  /** Identifies the key without revealing it. Another key has another count. */
  readonly fingerprint: string;
  /** HTTP calls per UTC day; undefined where none is configured: calls are not counted then. */
  readonly quota: number | undefined;
}
