import { metrics } from "@opentelemetry/api";

/** The gateway's own figures; calls, their routes and durations are the HTTP instrumentation's. */
export function observeGateway(state: { degraded: () => boolean; replicaAgeMs: () => number }): void {
  const meter = metrics.getMeter("gateway");
  meter
    .createObservableGauge("ratelimit_degraded", {
      description:
        "1 while this gateway limits on its own memory because Redis is away: each gateway then gives the whole limit.",
    })
    .addCallback((result) => result.observe(state.degraded() ? 1 : 0));
  meter
    .createObservableGauge("api_key_replica_age", {
      description:
        "How long ago account was last heard; above 5 s each key costs a call, above 60 s with account away all calls fail.",
      unit: "s",
    })
    .addCallback((result) => {
      const ageMs = state.replicaAgeMs();
      if (Number.isFinite(ageMs)) result.observe(ageMs / 1_000);
    });
}
