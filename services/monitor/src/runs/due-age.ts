import { metrics } from "@opentelemetry/api";
import { observeGauges } from "@vvs/telemetry/gauges";
import type { Environment } from "@vvs/tenant";

/**
 * Reports whenever metrics are collected how long the longest waiting monitor has been due. It is read from MongoDB, so it
 * also grows while no run starts; while it can't be read, a monitor may have become due since. Returns a function that ends it.
 */
export function observeDueAge(options: {
  environment: Environment;
  oldestDueAt: (now: Date) => Promise<Date | undefined>;
  now: () => Date;
}): () => void {
  const { environment, oldestDueAt, now } = options;
  const meter = metrics.getMeter("monitor");
  const gauge = meter.createObservableGauge("monitor_oldest_due_seconds", {
    description:
      "Time since the longest waiting monitor became due; 0 if none is. If it grows while no run is claimed, runs don't start.",
    unit: "s",
  });
  let notDueBefore = now();
  return observeGauges(meter, [gauge], async (observe) => {
    const at = now();
    const oldest = await oldestDueAt(at).catch(() => notDueBefore);
    notDueBefore = oldest ?? at;
    observe(gauge, Math.max(0, at.getTime() - notDueBefore.getTime()) / 1_000, { environment });
  });
}
