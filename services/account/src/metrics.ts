import { metrics } from "@opentelemetry/api";

export interface AccountMetrics {
  /** Counts a sign-in by what came of it: ok, second_step where a code is needed too, email_unconfirmed, or an error code. */
  signIn(outcome: string): void;
  /** Counts a step of a sign-up or of a forgotten password by what came of it: ok, or an error code. */
  entry(step: string, outcome: string): void;
  /** Notes how many gateways watch the keys. */
  watchers(count: number): void;
}

export function createAccountMetrics(): AccountMetrics {
  const meter = metrics.getMeter("account");
  const signIns = meter.createCounter("account.sign_ins", {
    description:
      "Sign-ins, by outcome; many unauthorized or rate_limited ones mean that someone is guessing passwords.",
  });
  const entries = meter.createCounter("account.entries", {
    description:
      "Sign-ups and forgotten passwords by step and outcome; many rate_limited ones mean that someone has us send mails.",
  });
  const watchers = meter.createGauge("account.key_watchers", {
    description: "Gateways that receive changes of API keys. If fewer than all gateways, the others look up each key.",
  });
  return {
    signIn: (outcome) => signIns.add(1, { outcome }),
    entry: (step, outcome) => entries.add(1, { step, outcome }),
    watchers: (count) => watchers.record(count),
  };
}
