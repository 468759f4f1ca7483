import { metrics } from "@opentelemetry/api";

const meter = metrics.getMeter("verification");

/** What an operator watches of this service. */
export const providerAttempts = meter.createCounter("verification_provider_attempts", {
  description:
    "Attempts at providers by provider and outcome (pass, fail, throw; shut: no call was made, the circuit is open or the quota used up). A sustained share of throw means that the provider is unwell or its data too old, one of shut that checks do without it.",
});

export const attemptDuration = meter.createHistogram("verification_provider_attempt_duration", {
  description:
    "Time one call of a provider took, by provider and outcome. A sustained tail near the attempt's time limit means that the provider answers too slowly to be of use.",
  unit: "s",
  advice: { explicitBucketBoundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20] },
});

export const checkDuration = meter.createHistogram("verification_check_duration", {
  description:
    "Time one check took, by check, mode and status. A tail near 20 s means that providers run into their time limit.",
  unit: "s",
  advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20] },
});

/** How a provider is, as the gauges tell it. */
export interface ObservedProvider {
  readonly environment: string;
  readonly provider: string;
  /** 0 available, 1 degraded, 2 unavailable. */
  readonly state: number;
  /** Undefined where unknown. */
  readonly quotaRemaining: number | undefined;
  /** Seconds; undefined where it never answered. */
  readonly lastSuccessAgeSeconds: number | undefined;
}

/** Tells how providers are whenever metrics are collected. Gives the end of it. */
export function observeProviders(read: () => Promise<readonly ObservedProvider[]>): () => void {
  const state = meter.createObservableGauge("verification_provider_state", {
    description:
      "How each provider is: 0 available, 1 degraded (faults lately, or a probe is due), 2 unavailable (circuit open or quota used up). A sustained 2 means that its checks rest on the providers after it, or end in error.",
  });
  const quota = meter.createObservableGauge("verification_provider_quota_remaining", {
    description:
      "Calls that a provider's daily quota has left, where known. 0 long before midnight UTC means that the quota is too small for the checks asked for.",
  });
  const age = meter.createObservableGauge("verification_provider_last_success_age", {
    description:
      "Time since each provider last answered. A sustained rise while checks are asked for means that the provider is of no use.",
    unit: "s",
  });
  const gauges = [state, quota, age];
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    for (const { environment, provider, ...seen } of await read()) {
      const labels = { environment, provider };
      result.observe(state, seen.state, labels);
      if (seen.quotaRemaining !== undefined) result.observe(quota, seen.quotaRemaining, labels);
      if (seen.lastSuccessAgeSeconds !== undefined) result.observe(age, seen.lastSuccessAgeSeconds, labels);
    }
  };
  meter.addBatchObservableCallback(observe, gauges);
  return () => meter.removeBatchObservableCallback(observe, gauges);
}

/** Tells how old a provider's key is whenever metrics are collected. Gives the end of it. */
export function observeKeyAge(key: { provider: string; issuedOn: Date; now: () => Date }): () => void {
  const age = meter.createObservableGauge("verification_provider_key_age_days", {
    description:
      "Days since a provider's key was issued. SAM.gov's keys live 90 days: above 80 means that a new one is due, before checks go on without the provider.",
  });
  const observe: Parameters<typeof age.addCallback>[0] = (result) =>
    result.observe((key.now().getTime() - key.issuedOn.getTime()) / 86_400_000, { provider: key.provider });
  age.addCallback(observe);
  return () => age.removeCallback(observe);
}
