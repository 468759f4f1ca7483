import { metrics } from "@opentelemetry/api";
import { observeGauges } from "@vvs/telemetry/gauges";
import type { Environment } from "@vvs/tenant";
import type { Backlog } from "./backlog.ts";
import type { AttemptResult } from "./model/retry-schedule.ts";

const SERVICE = "webhook-dispatcher";

export type DeliveryMetrics = ReturnType<typeof createDeliveryMetrics>;

/** Creates the counters of one environment's deliveries. */
export function createDeliveryMetrics(environment: Environment) {
  const meter = metrics.getMeter(SERVICE);
  const attempts = meter.createCounter("webhook_delivery_attempts", {
    description: "Attempts by outcome. Failures are caused by subscribers, unless most attempts fail.",
  });
  const accepted = meter.createCounter("webhook_deliveries_accepted", {
    description:
      "Events accepted for delivery. None while records of webhook.requested wait means that the consumer hangs.",
  });
  const overLimit = meter.createCounter("webhook_deliveries_over_limit", {
    description: "Sandbox events that are not delivered, because their organization had too many in this hour.",
  });
  const delay = meter.createHistogram("webhook_delivery_delay", {
    description: "Time from the detection of a change to the subscriber's 2xx. A rising median means that we are late.",
    unit: "s",
    advice: { explicitBucketBoundaries: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400] },
  });
  const leasesEnded = meter.createCounter("webhook_leases_ended", {
    description:
      "Deliveries whose lease expired without a recorded attempt. Some after a replica died; steadily, replicas hang.",
  });
  const givenUp = meter.createCounter("webhook_deliveries_given_up", {
    description:
      "Deliveries that failed for 24 h and are no longer retried. Each is a change that a subscriber did not receive.",
  });
  const putOff = meter.createCounter("webhook_attempts_put_off", {
    description:
      "Attempts that could not be sent because of a fault of ours: the egress proxy or this machine. Should be 0.",
  });
  // Reported as 0 from the start, so that the first one is an increase that alerts can see.
  for (const counter of [givenUp, putOff]) counter.add(0, { environment });

  return {
    attempted({ delivery, attempt, outcome }: AttemptResult, endedAt: Date): void {
      attempts.add(1, { environment, outcome: attempt.error ?? "delivered" });
      if (outcome.status === "failed" && !delivery.test) givenUp.add(1, { environment });
      if (outcome.status !== "delivered" || delivery.test || delivery.replays) return;
      const delaySeconds = (endedAt.getTime() - delivery.detected_at.getTime()) / 1000;
      // A later attempt is late because of the subscriber.
      delay.record(delaySeconds, { environment, attempt: attempt.number === 1 ? "first" : "later" });
    },
    /** Counts an attempt that could not be sent because of a fault of ours. */
    putOff: () => putOff.add(1, { environment }),
    accepted: (count: number) => accepted.add(count, { environment }),
    overLimit: (count: number) => overLimit.add(count, { environment }),
    leasesEnded: (count: number) => leasesEnded.add(count, { environment }),
  };
}

/** Reports one environment's gauges whenever metrics are read. Returns a function that ends it. */
export function observeDeliveries(options: {
  environment: Environment;
  inFlight: () => { fast: number; slow: number };
  queued: () => number;
  /** Returns the last count; undefined if it failed. */
  backlog: () => Backlog | undefined;
  now: () => Date;
}): () => void {
  const { environment, now } = options;
  const meter = metrics.getMeter(SERVICE);
  const inFlight = meter.createObservableGauge("webhook_attempts_in_flight", {
    description:
      "Attempts in flight. Slow ones take over 1 s, or may. When all slow slots are used, failing URLs wait longer.",
  });
  const queued = meter.createObservableGauge("webhook_deliveries_queued", {
    description:
      "Deliveries leased by this replica that wait for a slot. Steadily in the hundreds, there are too few slots.",
  });
  const pending = meter.createObservableGauge("webhook_deliveries_pending", {
    description:
      "Pending deliveries by reason. Growing 'due' means too few replicas; growing 'held' means failing endpoints.",
  });
  const oldestDue = meter.createObservableGauge("webhook_oldest_due_age", {
    description: "Time since the oldest due attempt was due, held ones included. Above 5 minutes, attempts are late.",
    unit: "s",
  });
  const endpoints = meter.createObservableGauge("webhook_failing_endpoints", {
    description: "Endpoints that only get probes (open), or that failed for a day or answered 410 (flagged).",
  });
  let notDueBefore: Date | undefined;
  const all = [inFlight, queued, pending, oldestDue, endpoints];
  return observeGauges(meter, all, (observe) => {
    const each = (gauge: typeof pending, counts: Readonly<Record<string, number>>, label: string) => {
      for (const [name, count] of Object.entries(counts)) observe(gauge, count, { environment, [label]: name });
    };
    each(inFlight, options.inFlight(), "pool");
    observe(queued, options.queued(), { environment });
    const backlog = options.backlog();
    const at = now();
    if (backlog) {
      each(pending, backlog.pending, "state");
      each(endpoints, backlog.endpoints, "state");
      notDueBefore = backlog.oldestDueAt ?? at;
    }
    // While it can't be counted, a delivery may have become due since.
    if (notDueBefore) observe(oldestDue, Math.max(0, at.getTime() - notDueBefore.getTime()) / 1_000, { environment });
  });
}
