import { metrics } from "@opentelemetry/api";
import { observeGauges } from "@vvs/telemetry/gauges";
import { environments } from "@vvs/tenant";
import { callClasses } from "../providers/call-class.ts";
import type { ReportProviders } from "./provider-report.ts";

const meter = metrics.getMeter("verification");
const STATES = { available: 0, degraded: 1, unavailable: 2 } as const;

/** Shows providers' health whenever metrics are collected. Returns a function that ends it. */
export function observeProviders(report: ReportProviders, now: () => Date): () => void {
  const state = meter.createObservableGauge("verification_provider_state", {
    description:
      "State of each provider: 0 available, 1 degraded (recent faults, or a probe is due), 2 unavailable (circuit open or quota used up). A sustained 2 means that its checks depend on the providers after it, or end in error.",
  });
  const quota = meter.createObservableGauge("verification_provider_quota_remaining", {
    description:
      "HTTP calls of a provider that direct callers may still cause today, where known. 0 long before midnight UTC means that the quota is too small for the number of checks.",
  });
  const calls = meter.createObservableGauge("verification_provider_calls_today", {
    description:
      "HTTP calls of a provider since midnight UTC with the key in use, by class (direct: for API callers; first: for the first runs of monitors; runs: for their later runs). One class near the whole quota day after day means that it leaves the others only their reserves.",
  });
  const dailyQuota = meter.createObservableGauge("verification_provider_daily_quota", {
    description: "HTTP calls of a provider that the configured quota allows per UTC day.",
  });
  const age = meter.createObservableGauge("verification_provider_last_success_age", {
    description:
      "Time since each provider last answered. A sustained rise while checks are requested means that the provider does not answer.",
    unit: "s",
  });
  const gauges = [state, quota, calls, dailyQuota, age];
  return observeGauges(meter, gauges, async (observe) => {
    for (const environment of environments) {
      for (const { name, condition, quotaRemaining, calls: today, lastSuccessAt } of await report(environment)) {
        const labels = { environment, provider: name };
        observe(state, STATES[condition], labels);
        if (quotaRemaining !== undefined) observe(quota, quotaRemaining, labels);
        if (today) {
          observe(dailyQuota, today.quota, labels);
          for (const each of callClasses) observe(calls, today[each], { ...labels, class: each });
        }
        if (!lastSuccessAt) continue;
        observe(age, Math.max(0, now().getTime() - lastSuccessAt.getTime()) / 1_000, labels);
      }
    }
  });
}
