import { metrics } from "@opentelemetry/api";

export interface AccountMetrics {
  /** Counts a sign-in by what came of it: ok, second_step where a code is needed too, or an error code. */
  signIn(outcome: string): void;
  /** Notes how many gateways watch the keys. */
  watchers(count: number): void;
}

export function createAccountMetrics(): AccountMetrics {
  const meter = metrics.getMeter("account");
  const signIns = meter.createCounter("account.sign_ins", {
    description: "Sign-ins by outcome; many unauthorized or rate_limited ones mean that someone guesses passwords.",
  });
  const watchers = meter.createGauge("account.key_watchers", {
    description: "Gateways that follow changes of API keys; fewer than there are gateways means that some ask per key.",
  });
  return {
    signIn: (outcome) => signIns.add(1, { outcome }),
    watchers: (count) => watchers.record(count),
  };
}
