import type { WebhookRequested } from "@vvs/proto/events/v1/events";
import { eventually } from "@vvs/testing";
import { openLoop, percentile, sorted } from "../load.ts";
import { round } from "../round.ts";
import { flood } from "./population.ts";
import type { DeliverBench, DeliverRow } from "./row.ts";
import { clockMs } from "./subscribers.ts";

const PER_SECOND = 200;
const WARM_UP_MS = 10_000;

/** Time from sending an event to Kafka until the request at its subscriber, at a steady rate. */
export const latency: DeliverRow<"latency-seconds"> = {
  name: "latency",
  sizes: { "latency-seconds": { long: 30, short: 15 } },
  targets: { latency_p50_ms: { at_most: 30 }, latency_p99_ms: { at_most: 100 } },
  async measure(bench, { "latency-seconds": seconds }) {
    bench.log(`${PER_SECOND} events a second ...`);
    const perSecond = PER_SECOND;
    await publishSteadily(bench, {
      perSecond,
      forMs: WARM_UP_MS,
      events: (count) => flood(count, bench.subscribers.url),
    });
    const sentAt = await publishSteadily(bench, {
      perSecond,
      forMs: seconds * 1_000,
      events: (count) => flood(count, bench.subscribers.url),
    });
    const { latenciesMs } = await firstArrivals(bench, sentAt);
    return {
      latency_p50_ms: round(percentile(latenciesMs, 50), 1),
      latency_p99_ms: round(percentile(latenciesMs, 99), 1),
      latency_max_ms: round(percentile(latenciesMs, 100), 1),
    };
  },
};

/** Publishes events at a steady rate. Returns when each was sent to Kafka, by event id. */
export async function publishSteadily(
  { stack }: Pick<DeliverBench, "stack">,
  options: { perSecond: number; forMs: number; events: (count: number) => WebhookRequested[] },
): Promise<Map<string, number>> {
  const { perSecond, forMs } = options;
  const events = options.events(Math.ceil((perSecond * forMs) / 1_000) + perSecond);
  const sentAt = new Map<string, number>();
  let next = 0;
  const { failed } = await openLoop({
    perSecond,
    forMs,
    call() {
      const event = events[next++]!;
      sentAt.set(event.eventId, clockMs());
      return stack.publish([event]);
    },
  });
  if (failed > 0) throw new Error(`Kafka refused ${failed} records`);
  return sentAt;
}

/** Returns when each event first arrived, and the sorted latencies. A missing event counts with the time until now. */
export async function firstArrivals({ subscribers }: Pick<DeliverBench, "subscribers">, sentAt: Map<string, number>) {
  const at = new Map<string, number>();
  await eventually(
    async () => {
      at.clear();
      for (const arrival of await subscribers.arrivals()) if (!at.has(arrival.id)) at.set(arrival.id, arrival.at);
      return [...sentAt.keys()].every((id) => at.has(id));
    },
    { timeoutMs: 60_000, everyMs: 1_000 },
  ).catch(() => undefined);
  const now = clockMs();
  return { at, latenciesMs: sorted([...sentAt].map(([id, sent]) => (at.get(id) ?? now) - sent)) };
}
