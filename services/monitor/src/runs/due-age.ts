import { metrics } from "@opentelemetry/api";
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
  const gauge = metrics.getMeter("monitor").createObservableGauge("monitor_oldest_due_seconds", {
    description:
      "Time since the longest waiting monitor became due; 0 if none is. If it grows while no run is claimed, runs don't start.",
    unit: "s",
  });
  let notDueBefore = now();
  const observe: Parameters<typeof gauge.addCallback>[0] = async (result) => {
    const at = now();
    // The SDK drops what a failing callback observed, and would report the last value for ever.
    const oldest = await oldestDueAt(at).catch(() => notDueBefore);
    notDueBefore = oldest ?? at;
    result.observe(Math.max(0, at.getTime() - notDueBefore.getTime()) / 1_000, { environment });
  };
  gauge.addCallback(observe);
  return () => gauge.removeCallback(observe);
}
