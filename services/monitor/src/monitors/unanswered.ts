import { metrics } from "@opentelemetry/api";
import type { Environment } from "@vvs/tenant";
import type { Filter } from "mongodb";
import type { MonitorDocument } from "./monitor.ts";

/** Minimum number of consecutive errors that span more than three periods. */
const ERRORS_IN_THREE_PERIODS = 4;
/** Minimum number of consecutive errors. A single error never counts, because the next run may get an answer. */
const FEWEST_ERRORS = 2;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Maximum number of monitors that one count reads. */
const MAX_COUNTED = 10_000;
/** Maximum duration of one count, in milliseconds. */
const COUNT_MS = 5_000;

/** Filter of the index of unanswered monitors. Every query contains it, so that the index is used. */
export const erringAgain = { consecutive_errors: { $gte: FEWEST_ERRORS } } as const;

/** Matches monitors whose runs have all ended in error for longer than three periods or a day, whichever is shorter. */
export function unansweredAt(now: Date): Filter<MonitorDocument> {
  const aDayAgo = new Date(now.getTime() - DAY_MS);
  return {
    ...erringAgain,
    $or: [{ consecutive_errors: { $gte: ERRORS_IN_THREE_PERIODS } }, { "erring.since": { $lte: aDayAgo } }],
  };
}

/**
 * Why a monitor is unanswered. `input`: the organization must supply data that a check lacks. `source`: the providers do
 * not answer.
 */
export type UnansweredCause = "input" | "source";

/**
 * Counts the unanswered active monitors of all organizations that are not suspended, at most 10,000 per cause. Monitors of
 * suspended organizations do not run. Only for operators.
 */
export type CountUnanswered = (
  now: Date,
  suspended: readonly string[],
) => Promise<Readonly<Record<UnansweredCause, number>>>;

export const countOptions = { limit: MAX_COUNTED, maxTimeMS: COUNT_MS } as const;

/** Reports the number of unanswered monitors whenever metrics are collected. Returns a function that ends it. */
export function observeUnanswered(options: {
  environment: Environment;
  count: CountUnanswered;
  /** The ids of suspended organizations. */
  suspended: () => readonly string[];
  now: () => Date;
}): () => void {
  const { environment, count, suspended, now } = options;
  const gauge = metrics.getMeter("monitor").createObservableGauge("monitor_unanswered", {
    description:
      "Active monitors whose runs have all ended in error for longer than three periods or a day, by cause: source (providers do not answer) or input (the organization must supply data that a check lacks). At most 10,000. A sustained source means that changes of these vendors go unnoticed.",
  });
  const observe: Parameters<typeof gauge.addCallback>[0] = async (result) => {
    const counts = await count(now(), suspended());
    for (const [cause, counted] of Object.entries(counts)) result.observe(counted, { environment, cause });
  };
  gauge.addCallback(observe);
  return () => gauge.removeCallback(observe);
}
