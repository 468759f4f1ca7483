import { metrics } from "@opentelemetry/api";
import type { Environment } from "@vvs/tenant";
import type { AttemptResult } from "./delivery/store.ts";

/** Metrics of one environment's deliveries. */
export interface DeliveryMetrics {
  attempted(made: AttemptResult, endedAt: Date): void;
  /** Counts an attempt that could not be sent because of a fault of ours. */
  putOff(): void;
  accepted(count: number): void;
  leasesEnded(count: number): void;
  /** Reports these gauges until `close`; they are called when metrics are read. */
  observe(gauges: Gauges): void;
  close(): void;
}

/** Functions that return the present values. */
export interface Gauges {
  inFlight(): { fast: number; slow: number };
  queued(): number;
  /** As of the last count; undefined where it failed. */
  backlog(): Backlog | undefined;
}

export interface Backlog {
  /** Pending deliveries by reason; a leased one counts as scheduled for the end of its lease. */
  readonly pending: Readonly<Record<"due" | "held" | "scheduled" | "in_order", number>>;
  /** When the oldest attempt that is due was due; undefined where none is. */
  readonly oldestDueAt: Date | undefined;
  /** Endpoints by how they fail. */
  readonly endpoints: Readonly<Record<"open" | "flagged", number>>;
}

const SERVICE = "webhook-dispatcher";

export function createDeliveryMetrics(environment: Environment, now: () => Date): DeliveryMetrics {
  const meter = metrics.getMeter(SERVICE);
  const attempts = meter.createCounter("webhook_delivery_attempts", {
    description: "Attempts by outcome. Failures are caused by subscribers, unless most attempts fail.",
  });
  const accepted = meter.createCounter("webhook_deliveries_accepted", {
    description:
      "Events accepted for delivery. None while records of webhook.requested wait means that the consumer hangs.",
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
  const gauges = createGauges(environment, now);
  const delivered = { environment, outcome: "delivered" };

  return {
    attempted({ delivery, attempt, outcome }, endedAt) {
      attempts.add(1, attempt.error ? { environment, outcome: attempt.error } : delivered);
      if (outcome.status === "failed" && !delivery.test) givenUp.add(1, { environment });
      if (outcome.status !== "delivered" || delivery.test || delivery.replays) return;
      const delaySeconds = (endedAt.getTime() - delivery.detected_at.getTime()) / 1000;
      // A later attempt is late because of the subscriber.
      delay.record(delaySeconds, { environment, attempt: attempt.number === 1 ? "first" : "later" });
    },
    putOff: () => putOff.add(1, { environment }),
    accepted: (count) => accepted.add(count, { environment }),
    leasesEnded: (count) => leasesEnded.add(count, { environment }),
    ...gauges,
  };
}

function createGauges(environment: Environment, now: () => Date): Pick<DeliveryMetrics, "observe" | "close"> {
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
  const all = [inFlight, queued, pending, oldestDue, endpoints];
  let stop: () => void = () => undefined;

  return {
    observe(gauges) {
      const report: Parameters<typeof meter.addBatchObservableCallback>[0] = (result) => {
        for (const [pool, count] of Object.entries(gauges.inFlight())) {
          result.observe(inFlight, count, { environment, pool });
        }
        result.observe(queued, gauges.queued(), { environment });
        const backlog = gauges.backlog();
        if (!backlog) return;
        for (const [state, count] of Object.entries(backlog.pending)) {
          result.observe(pending, count, { environment, state });
        }
        for (const [state, count] of Object.entries(backlog.endpoints)) {
          result.observe(endpoints, count, { environment, state });
        }
        const ageMs = backlog.oldestDueAt ? now().getTime() - backlog.oldestDueAt.getTime() : 0;
        result.observe(oldestDue, Math.max(0, ageMs) / 1_000, { environment });
      };
      meter.addBatchObservableCallback(report, all);
      stop = () => meter.removeBatchObservableCallback(report, all);
    },
    close: () => stop(),
  };
}
