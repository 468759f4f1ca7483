import { metrics } from "@opentelemetry/api";
import type { Environment } from "@vvs/tenant";
import type { RunCause } from "../model/monitor.ts";

/** Creates the metrics of starting runs. */
export function createRunMetrics(environment: Environment) {
  const meter = metrics.getMeter("monitor");
  const attributes = { environment };
  const claimed = meter.createCounter("monitor_runs_claimed", {
    description:
      "Monitor runs started, by cause: schedule, creation (the first run), expiry (the day after the registration's expiration date), exclusion (the first day of an exclusion) file (a loaded file changed the vendor) or answer (another answer of SAM.gov did).",
  });
  const lateness = meter.createHistogram("monitor_run_lateness", {
    unit: "s",
    description:
      "Time between a run's due time and its start, by cause. If it grows, there are too few replicas, MongoDB is slow, or one organization has more monitors due than it may start.",
    advice: { explicitBucketBoundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600] },
  });
  const superseded = meter.createCounter("monitor_runs_superseded", {
    description:
      "Runs that had not ended when the monitor's next one started: they wait until their provider can be asked, or verifications do not run.",
  });
  const failed = meter.createCounter("monitor_claims_failed", {
    description:
      "Due monitors whose run could not be started; tried again when the organization is leased next. changed: another replica started it, or it was canceled or changed since it was read. refused: by MongoDB, as while another transaction writes the monitor.",
  });
  const held = meter.createGauge("monitor_starts_held", {
    description: "1 while no run starts because the outbox waits for Kafka, else 0.",
  });
  return {
    claimed(cause: RunCause, latenessMs: number): void {
      claimed.add(1, { ...attributes, cause });
      lateness.record(Math.max(0, latenessMs) / 1_000, { ...attributes, cause });
    },
    superseded: () => superseded.add(1, attributes),
    failed: (reason: "changed" | "refused") => failed.add(1, { ...attributes, reason }),
    held: (isHeld: boolean) => held.record(isHeld ? 1 : 0, attributes),
  };
}

export type RunMetrics = ReturnType<typeof createRunMetrics>;
