import { metrics } from "@opentelemetry/api";
import { observeGauges } from "@vvs/telemetry/gauges";
import type { QueueNumbers } from "./numbers.ts";

const meter = metrics.getMeter("verification");

export const askedVendors = meter.createCounter("sam_gov_asked_vendors", {
  description: "Vendors that the queue asked SAM.gov's API about. 0 while runs are parked means that it can't ask.",
});

/** Shows the queue's numbers whenever metrics are collected. Returns a function that ends it. */
export function observeQueue(read: () => Promise<QueueNumbers>, now: () => Date): () => void {
  const parked = meter.createObservableGauge("sam_gov_parked_runs", {
    description:
      "Monitors' runs that wait for SAM.gov's API, by state (waiting: for its answer; ready: answered, and to be verified). A sustained rise of waiting means that the quota is too small.",
  });
  const oldest = meter.createObservableGauge("sam_gov_oldest_parked_seconds", {
    description: "Age of the oldest parked run. Above a day, changes of these vendors are reported late.",
    unit: "s",
  });
  const questions = meter.createObservableGauge("sam_gov_questions", {
    description: "Vendors that are to be asked about. A sustained rise means that the quota is too small.",
  });
  const planned = meter.createObservableGauge("sam_gov_calls_planned_tomorrow", {
    description:
      "Calls that tomorrow's questions will cost: those left over, vendors that are not active and due again, and new ones as in the last week. Above half of the quota, questions may wait for days.",
  });
  let notParkedBefore: Date | undefined;
  const gauges = [parked, oldest, questions, planned];
  return observeGauges(meter, gauges, async (observe) => {
    const numbers = await read().catch(() => undefined);
    const at = now();
    if (numbers) notParkedBefore = numbers.oldestParkedAt ?? at;
    // While the queue can't be read, a run may have been parked since.
    if (notParkedBefore) observe(oldest, Math.max(0, at.getTime() - notParkedBefore.getTime()) / 1_000);
    if (!numbers) return;
    for (const state of ["waiting", "ready"] as const) observe(parked, numbers.parked[state], { state });
    observe(questions, numbers.questions);
    observe(planned, numbers.callsPlannedTomorrow);
  });
}
