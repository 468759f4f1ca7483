import { metrics } from "@opentelemetry/api";
import { observeGauges } from "@vvs/telemetry/gauges";

const meter = metrics.getMeter("verification");

export const providerAttempts = meter.createCounter("verification_provider_attempts", {
  description:
    "Attempts at providers by provider and outcome (pass, fail, throw; input_fault: the provider can't answer about this input, which never opens a circuit; shut: no call was made, since the circuit is open or the quota used up; budget_spent: none was made, since the organization's own budget is spent). A sustained share of throw means that the provider fails or its data is too old; of input_fault that it refuses what it is asked: a client repeats unusable input, or the provider changed its interface; of shut that checks are made without it; a sustained rise of budget_spent means that an organization asks for more than its plan allows.",
});

export const attemptDuration = meter.createHistogram("verification_provider_attempt_duration", {
  description:
    "Duration of attempts at providers, by provider and outcome. A sustained tail near the attempt's time limit means that the provider is too slow to be useful.",
  unit: "s",
  advice: { explicitBucketBoundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20] },
});

export const checkDuration = meter.createHistogram("verification_check_duration", {
  description:
    "Duration of checks, by check, mode (bulk: one of a monitor that is judged with hundreds of others) and status. A tail near 20 s means that providers reach their time limit.",
  unit: "s",
  advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20] },
});

export const factsNotForwarded = meter.createCounter("verification_facts_not_passed_on", {
  description:
    "Verifications whose facts did not reach the entity service, by cause (failed; too_many: the maximum was in flight). A sustained rise means that entities which organizations created show older facts than their verifications, until they are checked again.",
});

/** The limits on guessing TINs: TINs of a vendor, TINs of a name, failures of an organization in a day. */
export const guessLimits = ["entity", "name", "failures"] as const;

export type GuessLimit = (typeof guessLimits)[number];

export const tinGuessesRefused = meter.createCounter("verification_tin_guesses_refused", {
  description:
    "Checks of tin_match that were not asked, by the limit on guessing TINs that was reached (entity, name: different TINs of a vendor or a name; failures: those of an organization in a day). Any rise means that somebody may be guessing TINs.",
});

/** Shows the age of a provider's key whenever metrics are collected. Returns a function that ends it. */
export function observeKeyAge(key: { provider: string; issuedOn: Date; now: () => Date }): () => void {
  const age = meter.createObservableGauge("verification_provider_key_age_days", {
    description:
      "Days since a provider's key was issued. SAM.gov's keys are valid for 90 days: above 80, request a new one, or checks will soon be made without the provider.",
  });
  return observeGauges(meter, [age], (observe) =>
    observe(age, (key.now().getTime() - key.issuedOn.getTime()) / 86_400_000, { provider: key.provider }),
  );
}
