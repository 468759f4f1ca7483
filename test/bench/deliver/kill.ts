import { newId } from "@vvs/ids";
import { eventually } from "@vvs/testing";
import { webhookEvent } from "../../support/delivery-stack.ts";
import { round } from "../round.ts";
import { ENDPOINTS, ownerOf } from "./population.ts";
import type { DeliverRow } from "./row.ts";
import { type Arrival, clockMs } from "./subscribers.ts";

const EVENTS = 10_000;
/** Events per monitor. They must arrive in order. */
const PER_MONITOR = 4;
const KILL_AFTER = 3_000;

/** `kill -9` while a backlog is being delivered, and an immediate restart. */
export const kill: DeliverRow = {
  name: "kill",
  targets: {
    lost: { at_most: 0 },
    gap_s: { at_most: 25 },
    duplicates_with_another_id: { at_most: 0 },
    out_of_order: { at_most: 0 },
  },
  async measure({ stack, subscribers, log }) {
    const monitors = Array.from({ length: EVENTS / PER_MONITOR }, () => newId("mon"));
    const events = Array.from({ length: EVENTS }, (_, index) => {
      const number = index % monitors.length;
      const endpoint = number % ENDPOINTS;
      return webhookEvent({
        organizationId: ownerOf(endpoint),
        monitorId: monitors[number]!,
        runSeq: 1 + Math.floor(index / monitors.length),
        url: subscribers.url(endpoint),
      });
    });
    await stack.publish(events);
    await eventually(async () => (await subscribers.count()) >= KILL_AFTER, {
      timeoutMs: 120_000,
      everyMs: 5,
    });
    const killedAt = clockMs();
    await stack.kill();
    log("Killed while delivering; starting again ...");
    await stack.start();
    const readyAt = clockMs();
    let arrivals: Arrival[] = [];
    await eventually(
      async () => {
        arrivals = await subscribers.arrivals();
        return new Set(arrivals.map(({ verification }) => verification)).size >= EVENTS;
      },
      { timeoutMs: 120_000, everyMs: 500 },
    ).catch(() => undefined);
    const firsts = new Map<string, Arrival>();
    for (const arrival of arrivals) if (!firsts.has(arrival.verification)) firsts.set(arrival.verification, arrival);
    const expected = new Map(events.map(({ verificationId, eventId }) => [verificationId, eventId]));
    const lost = events.filter(({ verificationId }) => !firsts.has(verificationId)).length;
    const lastAt = Math.max(...[...firsts.values()].map(({ at }) => at));
    return {
      lost,
      gap_s: round(((lost > 0 ? clockMs() : lastAt) - killedAt) / 1_000, 1),
      ready_after_s: round((readyAt - killedAt) / 1_000, 1),
      duplicates: arrivals.length - firsts.size,
      duplicates_with_another_id: arrivals.filter(({ verification, id }) => expected.get(verification) !== id).length,
      out_of_order: outOfOrder(events, firsts),
    };
  },
};

/** Counts the events that first arrived before an earlier event of the same monitor. */
function outOfOrder(events: readonly ReturnType<typeof webhookEvent>[], firsts: ReadonlyMap<string, Arrival>): number {
  const latest = new Map<string, number>();
  let count = 0;
  for (const { run, verificationId } of events) {
    const at = firsts.get(verificationId)?.at ?? Number.POSITIVE_INFINITY;
    if (at < (latest.get(run!.monitorId) ?? 0)) count++;
    latest.set(run!.monitorId, at);
  }
  return count;
}
