import { metrics } from "@opentelemetry/api";

/** Registers the gateway's own metrics. The HTTP instrumentation measures calls, routes and durations. */
export function observeGateway(state: { degraded: () => boolean; replicaAgeMs: () => number }): void {
  const meter = metrics.getMeter("gateway");
  meter
    .createObservableGauge("ratelimit_degraded", {
      description:
        "1 while this gateway counts limits in memory because Redis does not answer. It then does not see new calls of other gateways.",
    })
    .addCallback((result) => result.observe(state.degraded() ? 1 : 0));
  meter
    .createObservableGauge("api_key_replica_age", {
      description:
        "Time since the last message from account. Above 5 s each request asks account for its key; above 60 s with account unavailable all requests fail.",
      unit: "s",
    })
    .addCallback((result) => {
      const ageMs = state.replicaAgeMs();
      if (Number.isFinite(ageMs)) result.observe(ageMs / 1_000);
    });
}
