import { join } from "node:path";
import { eventually } from "@vvs/testing";
import { startHelper } from "../../support/helper-process.ts";
import { median } from "../load.ts";
import { round } from "../round.ts";
import { settledSpans, spansAt } from "../span-count.ts";
import { ENDPOINTS, flood } from "./population.ts";
import type { DeliverBench, DeliverRow } from "./row.ts";

const EVENTS = 10_000;
const BARE_MS = 4_000;
const BARE_IN_FLIGHT = 64;
/** Number of floods until the processes reach full speed. */
const WARM_UP_FLOODS = 2;

/** Floods from Kafka until all is delivered and recorded, alternating with the bare loop under the same conditions. */
export const throughput: DeliverRow<"rounds"> = {
  name: "throughput",
  sizes: { rounds: { long: 5, short: 3 } },
  targets: { ratio_to_bare: { at_least: 0.17 } },
  async measure(bench, { rounds: count }) {
    const { subscribers, log } = bench;
    const bare = await startHelper({
      name: "bare-loop",
      script: join(import.meta.dirname, "bare-loop.ts"),
      environment: {
        URLS: Array.from({ length: ENDPOINTS }, (_, endpoint) => subscribers.url(endpoint, "/bare")).join(","),
        IN_FLIGHT: String(BARE_IN_FLIGHT),
      },
    });
    bench.onClose(() => bare.stop());
    const barePerSecond = async () => Number(await (await fetch(`${bare.line}/?ms=${BARE_MS}`)).text());
    log("Warming up ...");
    await barePerSecond();
    for (let index = 0; index < WARM_UP_FLOODS; index++) await floodPerSecond(bench);

    const spansBefore = await settledSpans(() => spansAt(bench.sinkUrl));
    const rounds: { bare: number; product: number }[] = [];
    for (let index = 1; index <= count; index++) {
      const each = { bare: await barePerSecond(), product: await floodPerSecond(bench) };
      rounds.push(each);
      log(`round ${index}: bare ${each.bare.toFixed(0)} a second, deliveries ${each.product.toFixed(0)} a second`);
    }
    const spans = (await settledSpans(() => spansAt(bench.sinkUrl))) - spansBefore;
    return {
      bare_per_second: round(median(rounds.map(({ bare }) => bare)), 0),
      deliveries_per_second: round(median(rounds.map(({ product }) => product)), 0),
      ratio_to_bare: round(median(rounds.map(({ bare, product }) => product / bare)), 3),
      spans_per_delivery: round(spans / (count * EVENTS), 1),
    };
  },
};

/** Returns deliveries per second, from sending the first record to Kafka until the last delivery is recorded. */
async function floodPerSecond({ stack, subscribers }: DeliverBench): Promise<number> {
  const events = flood(EVENTS, subscribers.url);
  const before = await subscribers.count();
  const startedAt = performance.now();
  await stack.publish(events);
  const timeoutMs = 180_000;
  await eventually(async () => (await subscribers.count()) >= before + EVENTS, { timeoutMs });
  await eventually(async () => (await stack.pending()) === 0, { everyMs: 25 });
  return EVENTS / ((performance.now() - startedAt) / 1_000);
}
