import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { type Client, createClient } from "@vvs/rpc";
import { eventually } from "@vvs/testing";
import { serverCacheDir, startServers } from "../../../deploy/local/servers/index.ts";
import { projectRoot } from "../../../deploy/local/services.ts";
import { startHelper } from "../../support/helper-process.ts";
import { startVerificationStack, type VerificationStack } from "../../support/verification-stack.ts";
import type { Benchmark, Measured } from "../benchmark.ts";
import { closedLoop, type LoadResult, median, openLoop, percentile, sorted } from "../load.ts";
import { settledSpans, spansAt } from "../span-count.ts";
import { watchArrivals } from "./arrivals.ts";
import { cachedCall, type Subject, seedSubjects } from "./subjects.ts";

const IN_FLIGHT = 64;
const ROUNDS = 5;
const ROUND_MS = 8_000;
/** Time until the runtimes have compiled the code: a service runs for days. */
const WARM_UP_MS = 15_000;
const HALF_LOAD_MS = 15_000;

/** Cached verifications through real processes, alternating with a bare handler under the same conditions. */
export const verifyBenchmark: Benchmark = {
  name: "verify",
  about: "cached verifications per second against a bare gRPC handler with one read and one insert",
  targets: {
    ratio_to_bare: { at_least: 0.5 },
    verify_p99_ms: { at_most: 120 },
    answer_to_kafka_p99_ms: { at_most: 250 },
  },
  async run(log) {
    const prefix = `b${randomBytes(4).toString("hex")}_`;
    const folder = join(projectRoot, ".cache", "bench", prefix);
    mkdirSync(folder, { recursive: true });
    const closes: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
    try {
      return await measure({ prefix, folder, log, onClose: (close) => closes.push(close) });
    } finally {
      for (const close of closes.toReversed()) await close();
    }
  },
};

interface Run {
  readonly prefix: string;
  readonly folder: string;
  readonly log: (line: string) => void;
  readonly onClose: (close: () => Promise<unknown>) => void;
}

async function measure({ prefix, folder, log, onClose }: Run): Promise<Measured> {
  const dataDir = join(folder, "servers");
  const servers = await startServers({ dataDir, cacheDir: serverCacheDir(process.env), log, env: process.env });
  onClose(() => servers.stop());
  const sink = await startHelper({ name: "otlp-sink", script: join(import.meta.dirname, "../otlp-sink.ts") });
  onClose(() => sink.stop());
  const profileDir = process.env.BENCH_PROFILE_DIR;
  const stack = await startVerificationStack({
    servers,
    prefix,
    folder,
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.line, OTEL_TRACES_SAMPLER: "always_on" },
    nodeOptions: profileDir ? ["--cpu-prof", `--cpu-prof-dir=${profileDir}`] : [],
    log,
  });
  onClose(() => stack.remove());
  onClose(() => stack.stop());
  const subjects = await seedSubjects(stack);
  const bareServer = await startHelper({
    name: "bare-server",
    script: join(import.meta.dirname, "bare-server.ts"),
    environment: { MONGODB_URI: servers.mongodbUri, BARE_DATABASE: `${prefix}verification_live` },
  });
  onClose(() => bareServer.stop());
  const bareClient = createClient(VerificationService, {
    address: `127.0.0.1:${bareServer.line}`,
    caller: "gateway",
    tls: undefined,
  });
  onClose(async () => bareClient.close());

  const product = caller(stack.verifications, subjects);
  const bare = caller(bareClient, subjects);
  log("Warming up ...");
  await closedLoop({ inFlight: IN_FLIGHT, forMs: WARM_UP_MS, call: bare });
  await closedLoop({ inFlight: IN_FLIGHT, forMs: WARM_UP_MS, call: product });

  const rounds = await alternate({ bare, product, spansSoFar: () => spansAt(sink.line), log });
  const perSecond = median(rounds.product.map((round) => round.perSecond));
  log(`Half load: ${Math.round(perSecond / 2)} a second ...`);
  const toKafka = await answerToKafka({ servers, prefix, stack, subjects, perSecond: perSecond / 2 });

  const bareResult = summary(rounds.bare);
  const productResult = summary(rounds.product);
  return {
    conditions: {
      baseline: "grpc-js handler: one indexed read, one insert {w: majority, j: true}, no telemetry",
      concurrency: IN_FLIGHT,
      document_shape: "one sam_registration result of a registry entity, about 0.5 KB",
      telemetry: "every span exported over OTLP to a sink on this machine",
      processes: "verification, entity, relay to a real broker, MongoDB, all on this machine with the load",
      processors: cpus().length,
      rounds: `${ROUNDS} of ${ROUND_MS / 1_000} s each, alternating`,
    },
    figures: {
      bare_per_second: bareResult.perSecond,
      bare_p50_ms: bareResult.p50,
      bare_p99_ms: bareResult.p99,
      verify_per_second: productResult.perSecond,
      verify_p50_ms: productResult.p50,
      verify_p99_ms: productResult.p99,
      ratio_to_bare: round(
        median(rounds.product.map((each, index) => each.perSecond / rounds.bare[index]!.perSecond)),
        3,
      ),
      failed_calls: [...rounds.bare, ...rounds.product].reduce((sum, { failed }) => sum + failed, 0) + toKafka.failed,
      spans_per_verification: round(rounds.spansPerCall, 1),
      half_load_per_second: round(toKafka.perSecond, 0),
      half_load_p99_ms: round(toKafka.p99, 1),
      answer_to_kafka_p50_ms: round(percentile(toKafka.lagsMs, 50), 1),
      answer_to_kafka_p99_ms: round(percentile(toKafka.lagsMs, 99), 1),
    },
  };
}

/** Returns a function that verifies the subjects in rotation. */
function caller(client: Pick<Client<typeof VerificationService>, "verify">, subjects: readonly Subject[]) {
  let next = 0;
  return () => client.verify(cachedCall(subjects[next++ % subjects.length]!));
}

async function alternate(options: {
  bare: () => Promise<unknown>;
  product: () => Promise<unknown>;
  spansSoFar: () => Promise<number>;
  log: (line: string) => void;
}) {
  const rounds = { bare: [] as LoadResult[], product: [] as LoadResult[], spansPerCall: 0 };
  let spans = 0;
  let calls = 0;
  for (let index = 1; index <= ROUNDS; index++) {
    for (const side of ["bare", "product"] as const) {
      const before = await options.spansSoFar();
      const result = await closedLoop({ inFlight: IN_FLIGHT, forMs: ROUND_MS, call: options[side] });
      if (side === "product") {
        spans += (await settledSpans(options.spansSoFar)) - before;
        calls += result.latenciesMs.length;
      }
      rounds[side].push(result);
      options.log(
        `${side} ${index}: ${result.perSecond.toFixed(0)} a second, p99 ${percentile(result.latenciesMs, 99).toFixed(1)} ms`,
      );
    }
  }
  return { ...rounds, spansPerCall: spans / calls };
}

/** Measures the time from each verification's answer until its record can be read from Kafka, at a steady rate. */
async function answerToKafka(options: {
  servers: { kafkaBrokers: string[] };
  prefix: string;
  stack: VerificationStack;
  subjects: readonly Subject[];
  perSecond: number;
}) {
  const { servers, prefix, stack, subjects, perSecond } = options;
  const arrivals = await watchArrivals({
    brokers: servers.kafkaBrokers,
    topic: `${prefix}.live.verification.completed`,
    groupId: `${prefix}.arrivals`,
  });
  try {
    const answeredAt = new Map<string, number>();
    let next = 0;
    const call = async () => {
      const { verification } = await stack.verifications.verify(cachedCall(subjects[next++ % subjects.length]!));
      answeredAt.set(verification!.id, performance.now());
    };
    const load = await openLoop({ perSecond, forMs: HALF_LOAD_MS, call });
    await eventually(() => [...answeredAt.keys()].every((id) => arrivals.at.has(id)));
    const lagsMs = sorted([...answeredAt].map(([id, at]) => Math.max(0, arrivals.at.get(id)! - at)));
    return { lagsMs, perSecond: load.perSecond, p99: percentile(load.latenciesMs, 99), failed: load.failed };
  } finally {
    await arrivals.close();
  }
}

function summary(rounds: readonly LoadResult[]) {
  const latencies = sorted(rounds.flatMap(({ latenciesMs }) => latenciesMs));
  return {
    perSecond: round(median(rounds.map(({ perSecond }) => perSecond)), 0),
    p50: round(percentile(latencies, 50), 1),
    p99: round(percentile(latencies, 99), 1),
  };
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
