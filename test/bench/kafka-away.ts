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

const AWAY_MS = 60_000;
const PER_SECOND = 50;

/** A full minute without Kafka, which would take too long among the tests. */
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
      log(`Kafka is away for ${AWAY_MS / 1_000} s ...`);
      const away = await takeKafkaAway({ stack, broker, caller, awayMs: AWAY_MS, perSecond: PER_SECOND });
      const published = new Set(away.outcome.published);
      const stored = new Set(away.outcome.stored);
      return {
        conditions: {
          baseline: "nothing may be lost or invented",
          load: `${PER_SECOND} realtime sandbox verifications a second over gRPC`,
          away_seconds: AWAY_MS / 1_000,
          telemetry: "no collector",
        },
        figures: {
          answered_while_away: away.meanwhile.latenciesMs.length,
          failed_calls: away.meanwhile.failed,
          away_p99_ms: Number(percentile(away.meanwhile.latenciesMs, 99).toFixed(1)),
          stored: stored.size,
          lost_records: without([...stored, ...away.answered], published),
          invented_records: without(away.outcome.published, stored),
          repeated_records: away.outcome.published.length - published.size,
          catch_up_seconds: Number((away.catchUpMs / 1_000).toFixed(1)),
        },
      };
    } finally {
      for (const close of closes.toReversed()) await close();
    }
  },
};

/** How many different ids a set lacks. */
function without(ids: readonly string[], set: ReadonlySet<string>): number {
  return new Set(ids.filter((id) => !set.has(id))).size;
}
