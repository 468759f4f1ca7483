import { outcome } from "../faults/outbox-state.ts";
import { startOwnBroker } from "../faults/own-broker.ts";
import { sandboxCaller } from "../faults/sandbox-caller.ts";
import { startVerificationStack } from "../support/verification-stack.ts";
import type { Benchmark, RowBench } from "./benchmark.ts";
import { openLoop, percentile } from "./load.ts";
import { round } from "./round.ts";

const PER_SECOND = 50;

/** A full minute without Kafka: too long for the test suite. */
export const kafkaAwayBenchmark: Benchmark = {
  name: "kafka-away",
  about: "a minute without Kafka under load: are calls answered, and is everything published once it is back",
  rows: [
    {
      name: "outage",
      conditions: {
        baseline: "nothing may be lost or invented",
        load: `${PER_SECOND} realtime sandbox verifications a second over gRPC`,
        telemetry: "no collector",
      },
      sizes: { seconds: { long: 60, short: 20 } },
      targets: {
        failed_calls: { at_most: 0 },
        lost_records: { at_most: 0 },
        invented_records: { at_most: 0 },
      },
      measure,
    },
  ],
};

async function measure({ servers, prefix, folder, log, onClose }: RowBench, { seconds }: { seconds: number }) {
  const broker = await startOwnBroker(folder);
  onClose(() => broker.stop());
  const ownBroker = { ...servers, kafkaBrokers: broker.brokers };
  const stack = await startVerificationStack({ servers: ownBroker, prefix, folder, log });
  onClose(() => stack.stop());
  const caller = sandboxCaller(stack);
  const answered: string[] = [];
  const callFor = (forMs: number) =>
    openLoop({ perSecond: PER_SECOND, forMs, call: async () => void answered.push(await caller.verify()) });
  await callFor(2_000);
  log(`Kafka is unavailable for ${seconds} s ...`);
  await broker.takeAway();
  const meanwhile = await callFor(seconds * 1_000);
  await Promise.all([broker.restore(), callFor(2_000)]);
  const backAt = performance.now();
  const after = await outcome(stack);
  const [published, stored] = [new Set(after.published), new Set(after.stored)];
  return {
    answered_while_away: meanwhile.latenciesMs.length,
    failed_calls: meanwhile.failed,
    away_p99_ms: round(percentile(meanwhile.latenciesMs, 99), 1),
    stored: stored.size,
    lost_records: without([...stored, ...answered], published),
    invented_records: without(after.published, stored),
    repeated_records: after.published.length - published.size,
    catch_up_seconds: round((performance.now() - backAt) / 1_000, 1),
  };
}

/** Counts the distinct ids that a set lacks. */
function without(ids: readonly string[], set: ReadonlySet<string>): number {
  return new Set(ids.filter((id) => !set.has(id))).size;
}
