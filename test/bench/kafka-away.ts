import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { startMongodb } from "../../deploy/local/servers/mongodb.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { takeKafkaAway } from "../faults/kafka-away.ts";
import { startOwnBroker } from "../faults/own-broker.ts";
import { sandboxCaller } from "../faults/sandbox-caller.ts";
import { startVerificationStack } from "../support/verification-stack.ts";
import type { Benchmark } from "./benchmark.ts";
import { percentile } from "./load.ts";

const OUTAGE_MS = 60_000;
const PER_SECOND = 50;

/** A full minute without Kafka: too long for the test suite. */
export const kafkaAwayBenchmark: Benchmark = {
  name: "kafka-away",
  about: "a minute without Kafka under load: are calls answered, and is everything published once it is back",
  targets: {
    failed_calls: { at_most: 0 },
    lost_records: { at_most: 0 },
    invented_records: { at_most: 0 },
  },
  async run(log) {
    const prefix = `b${randomBytes(4).toString("hex")}_`;
    const folder = join(projectRoot, ".cache", "bench", prefix);
    const closes: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
    try {
      const own = { dataDir: join(folder, "mongodb"), cacheDir: serverCacheDir(process.env), log };
      const mongodb = await startMongodb(own);
      closes.push(() => mongodb.stop());
      const broker = await startOwnBroker(folder);
      closes.push(() => broker.stop());
      const servers = { mongodbUri: mongodb.uri, kafkaBrokers: broker.brokers };
      const stack = await startVerificationStack({ servers, prefix, folder, log });
      closes.push(() => stack.stop());
      const caller = sandboxCaller(stack);
      log(`Kafka is unavailable for ${OUTAGE_MS / 1_000} s ...`);
      const outage = await takeKafkaAway({ stack, broker, caller, awayMs: OUTAGE_MS, perSecond: PER_SECOND });
      const published = new Set(outage.outcome.published);
      const stored = new Set(outage.outcome.stored);
      return {
        conditions: {
          baseline: "nothing may be lost or invented",
          load: `${PER_SECOND} realtime sandbox verifications a second over gRPC`,
          away_seconds: OUTAGE_MS / 1_000,
          telemetry: "no collector",
        },
        figures: {
          answered_while_away: outage.meanwhile.latenciesMs.length,
          failed_calls: outage.meanwhile.failed,
          away_p99_ms: Number(percentile(outage.meanwhile.latenciesMs, 99).toFixed(1)),
          stored: stored.size,
          lost_records: without([...stored, ...outage.answered], published),
          invented_records: without(outage.outcome.published, stored),
          repeated_records: outage.outcome.published.length - published.size,
          catch_up_seconds: Number((outage.catchUpMs / 1_000).toFixed(1)),
        },
      };
    } finally {
      for (const close of closes.toReversed()) await close();
    }
  },
};

/** Counts the distinct ids that a set lacks. */
function without(ids: readonly string[], set: ReadonlySet<string>): number {
  return new Set(ids.filter((id) => !set.has(id))).size;
}
