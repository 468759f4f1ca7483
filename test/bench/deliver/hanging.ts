import { newId } from "@vvs/ids";
import type { WebhookRequested } from "@vvs/proto/events/v1/events";
import { webhookEvent } from "../../support/delivery-stack.ts";
import { percentile } from "../load.ts";
import { round } from "../round.ts";
import { ENDPOINTS, ownerOf } from "./population.ts";
import type { DeliverRow } from "./row.ts";
import { firstArrivals, publishSteadily } from "./steady.ts";
import { clockMs } from "./subscribers.ts";

const PER_SECOND = 240;
/** One event in this many goes to an endpoint that never answers. */
const HANGING_SHARE = 6;

/** The effect of a hanging endpoint on healthy ones, some of which belong to the same organization. */
export const hanging: DeliverRow<"hanging-seconds"> = {
  name: "hanging",
  sizes: { "hanging-seconds": { long: 60, short: 20 } },
  targets: { healthy_p99_ms: { at_most: 1_000 }, healthy_rate_share: { at_least: 0.9 } },
  async measure(bench, { "hanging-seconds": seconds }) {
    const { subscribers } = bench;
    bench.log(`${PER_SECOND} events a second, one in ${HANGING_SHARE} to an endpoint that hangs ...`);
    const hangs = subscribers.url(0, "/hang");
    const healthy = new Set<string>();
    const event = (index: number): WebhookRequested => {
      const endpoint = index % ENDPOINTS;
      const isHanging = index % HANGING_SHARE === 0;
      const webhook = webhookEvent({
        organizationId: ownerOf(isHanging ? 0 : endpoint),
        monitorId: newId("mon"),
        url: isHanging ? hangs : subscribers.url(endpoint),
      });
      if (!isHanging) healthy.add(webhook.eventId);
      return webhook;
    };
    const sentAt = await publishSteadily(bench, {
      perSecond: PER_SECOND,
      forMs: seconds * 1_000,
      events: (count) => Array.from({ length: count }, (_, index) => event(index)),
    });
    const endedAt = clockMs();
    const healthySentAt = new Map([...sentAt].filter(([id]) => healthy.has(id)));
    const { at, latenciesMs } = await firstArrivals(bench, healthySentAt);
    const inTime = [...healthySentAt.keys()].filter((id) => (at.get(id) ?? Number.POSITIVE_INFINITY) <= endedAt);
    const hung = (await subscribers.arrivals()).filter(({ url }) => url === hangs);
    return {
      healthy_p50_ms: round(percentile(latenciesMs, 50), 1),
      healthy_p99_ms: round(percentile(latenciesMs, 99), 1),
      healthy_max_ms: round(percentile(latenciesMs, 100), 1),
      healthy_rate_share: round(inTime.length / healthySentAt.size, 3),
      hanging_attempts: hung.length,
    };
  },
};
