import { metrics } from "@opentelemetry/api";
import { observeGauges } from "@vvs/telemetry/gauges";
import type { Environment } from "@vvs/tenant";
import type { Filter } from "mongodb";
import type { MonitorDocument } from "./monitor.ts";

/** Minimum number of consecutive errors that span more than three periods. */
const ERRORS_IN_THREE_PERIODS = 4;
/** Minimum number of consecutive errors. A single error never counts, because the next run may get an answer. */
const FEWEST_ERRORS = 2;
const DAY_MS = 24 * 60 * 60 * 1_000;

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

/** Bounds of one count of unanswered monitors of a cause. */
export const countOptions = { limit: 10_000, maxTimeMS: 5_000 } as const;

/** Reports the number of unanswered monitors, NaN while it can't be counted. Returns a function that ends it. */
export function observeUnanswered(options: {
  environment: Environment;
  count: () => Promise<Readonly<Record<UnansweredCause, number>>>;
}): () => void {
  const { environment, count } = options;
  const meter = metrics.getMeter("monitor");
  const gauge = meter.createObservableGauge("monitor_unanswered", {
    description:
      "Active monitors whose runs have all ended in error for longer than three periods or a day, by cause: source (providers do not answer) or input (the organization must supply data that a check lacks). At most 10,000. A sustained source means that changes of these vendors go unnoticed.",
  });
  return observeGauges(meter, [gauge], async (observe) => {
    for (const [cause, counted] of Object.entries(await count())) observe(gauge, counted, { environment, cause });
  });
}
