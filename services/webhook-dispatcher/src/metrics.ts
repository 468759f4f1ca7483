import { metrics } from "@opentelemetry/api";
import type { Environment } from "@vvs/tenant";
import type { Made } from "./store.ts";

/** What an operator sees of one environment's deliveries. */
export interface DeliveryMetrics {
  attempted(made: Made, endedAt: Date): void;
  /** An attempt could not leave, by a fault of ours. */
  putOff(): void;
  accepted(count: number): void;
  leasesEnded(count: number): void;
  /** Reports gauges until closed; each is asked for when metrics are read. */
  watch(gauges: Gauges): void;
  close(): void;
}

/** Undefined where it is not known now. */
export interface Gauges {
  inFlight(): { fast: number; slow: number };
  queued(): number;
  /** As of the last look into the store. */
  backlog(): Backlog | undefined;
}

export interface Backlog {
  /** Deliveries that are pending, by why; what is in hand counts as scheduled, for its lease's end. */
  readonly pending: Readonly<Record<"due" | "held" | "scheduled" | "in_order", number>>;
  /** When the attempt that is due longest was due; undefined where none is. */
  readonly oldestDueAt: Date | undefined;
  /** Endpoints by how they fail. */
  readonly endpoints: Readonly<Record<"open" | "flagged", number>>;
}

const SERVICE = "webhook-dispatcher";

export function createDeliveryMetrics(environment: Environment, now: () => Date): DeliveryMetrics {
  const meter = metrics.getMeter(SERVICE);
  const attempts = meter.createCounter("webhook_delivery_attempts", {
    description: "Attempts by outcome. Failures are the subscribers' affair, unless most of them fail.",
  });
  const accepted = meter.createCounter("webhook_deliveries_accepted", {
    description: "Events taken over for delivery. None while records of webhook.requested wait, it hangs.",
  });
  const delay = meter.createHistogram("webhook_delivery_delay", {
    description: "From the detection of a change to the 2xx of its subscriber. A rising median means that we are late.",
    unit: "s",
    advice: { explicitBucketBoundaries: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400] },
  });
  const leasesEnded = meter.createCounter("webhook_leases_ended", {
    description: "Deliveries whose lease ended without a record. Some after a replica died; steadily, replicas hang.",
  });
  const givenUp = meter.createCounter("webhook_deliveries_given_up", {
    description:
      "Deliveries that failed for 24 h and are tried no more. Each is a change that somebody was not told of.",
  });
  const putOff = meter.createCounter("webhook_attempts_put_off", {
    description: "Attempts that could not leave by a fault of ours: the egress proxy, or this machine. None should be.",
  });
  // There from the start, so that the first one is an increase that can be alerted on.
  for (const counter of [givenUp, putOff]) counter.add(0, { environment });
  const gauges = createGauges(environment, now);
  const delivered = { environment, outcome: "delivered" };

  return {
    attempted({ delivery, attempt, outcome }, endedAt) {
      attempts.add(1, attempt.error ? { environment, outcome: attempt.error } : delivered);
      if (outcome.status === "failed" && !delivery.test) givenUp.add(1, { environment });
      if (outcome.status !== "delivered" || delivery.test || delivery.replays) return;
      const delaySeconds = (endedAt.getTime() - delivery.detected_at.getTime()) / 1000;
      // A later attempt is late by its subscriber's fault.
      delay.record(delaySeconds, { environment, attempt: attempt.number === 1 ? "first" : "later" });
    },
    putOff: () => putOff.add(1, { environment }),
    accepted: (count) => accepted.add(count, { environment }),
    leasesEnded: (count) => leasesEnded.add(count, { environment }),
    ...gauges,
  };
}

function createGauges(environment: Environment, now: () => Date): Pick<DeliveryMetrics, "watch" | "close"> {
  const meter = metrics.getMeter(SERVICE);
  const inFlight = meter.createObservableGauge("webhook_attempts_in_flight", {
    description:
      "Attempts under way; slow ones take over 1 s or may. At the slow pool's size, failing URLs wait longer.",
  });
  const queued = meter.createObservableGauge("webhook_deliveries_queued", {
    description: "Deliveries in this replica's hand that wait for a slot. Steadily in the hundreds, it is too slow.",
  });
  const pending = meter.createObservableGauge("webhook_deliveries_pending", {
    description:
      "Deliveries that are not done, by why. Growing 'due' means too few replicas; 'held', failing endpoints.",
  });
  const oldestDue = meter.createObservableGauge("webhook_oldest_due_age", {
    description: "Age of the attempt that is due longest, held back or not. Above 5 minutes, attempts are late.",
    unit: "s",
  });
  const endpoints = meter.createObservableGauge("webhook_failing_endpoints", {
    description: "Endpoints that are probed only (open), or have failed for a day or said 410 (flagged).",
  });
  const all = [inFlight, queued, pending, oldestDue, endpoints];
  let stop: () => void = () => undefined;

  return {
    watch(gauges) {
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
