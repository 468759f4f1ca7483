import { metrics } from "@opentelemetry/api";
import { observeGauges } from "@vvs/telemetry/gauges";
import type { Finding } from "./judge.ts";
import type { Positions } from "./positions.ts";

export type SweepMetrics = ReturnType<typeof createSweepMetrics>;

/** Creates the metrics of scheduled checks that are made in bulk. */
export function createSweepMetrics() {
  const checks = metrics.getMeter("monitor").createCounter("monitor_swept_checks", {
    description:
      "Scheduled checks of standing monitors by finding: same (nothing is written), different (a run starts) or overdue (the exclusions file is too old to confirm anything). Sustained different: data changes, or the code that judges it was changed.",
  });
  return {
    checked(findings: readonly Finding[]): void {
      for (const finding of ["same", "different", "overdue"] as const) {
        const count = findings.filter((each) => each === finding).length;
        if (count > 0) checks.add(count, { finding });
      }
    },
  };
}

/** Reports how late the scheduled checks of standing monitors are, NaN while it can't be read. Returns a function that ends it. */
export function observeSweepLag(options: { readAll: () => Promise<Positions>; now: () => Date }): () => void {
  const meter = metrics.getMeter("monitor");
  const gauge = meter.createObservableGauge("monitor_sweep_lag_seconds", {
    description:
      "Time since the scheduled checks of standing monitors were made up to now, by frequency. Usually up to two minutes. If it grows, verification can't judge them, and changes that no loaded file announced go unnoticed.",
    unit: "s",
  });
  return observeGauges(meter, [gauge], async (observe) => {
    for (const [frequency, { swept_to }] of await options.readAll()) {
      observe(gauge, Math.max(0, options.now().getTime() - swept_to.getTime()) / 1_000, { frequency });
    }
  });
}
