import { metrics } from "@opentelemetry/api";

export type AccountMetrics = ReturnType<typeof createAccountMetrics>;

export function createAccountMetrics() {
  const meter = metrics.getMeter("account");
  const signIns = meter.createCounter("account.sign_ins", {
    description:
      "Sign-ins, by outcome; many unauthorized or rate_limited ones mean that someone is guessing passwords.",
  });
  const entries = meter.createCounter("account.entries", {
    description:
      "Sign-ups and forgotten passwords by step and outcome; many rate_limited ones mean that someone makes us send emails.",
  });
  const watchers = meter.createGauge("account.key_watchers", {
    description: "Gateways that receive changes of API keys. If fewer than all gateways, the others look up each key.",
  });
  return {
    /** Counts a sign-in by its outcome: ok, second_step (a code is required too), email_unconfirmed, or an error code. */
    signIn: (outcome: string) => signIns.add(1, { outcome }),
    /** Counts a step of a sign-up or a password reset by its outcome: ok, or an error code. */
    entry: (step: string, outcome: string) => entries.add(1, { step, outcome }),
    /** Reports how many gateways watch the keys. */
    watchers: (count: number) => watchers.record(count),
  };
}
