import { join } from "node:path";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { type Client, createClient } from "@vvs/rpc";
import { eventually } from "@vvs/testing";
import { startHelper } from "../../support/helper-process.ts";
import { startVerificationStack, type VerificationStack } from "../../support/verification-stack.ts";
import type { Benchmark, Figures, RowBench } from "../benchmark.ts";
import { closedLoop, type LoadResult, median, openLoop, percentile, sorted } from "../load.ts";
import { round } from "../round.ts";
import { settledSpans, spansAt } from "../span-count.ts";
import { watchArrivals } from "./arrivals.ts";
import { idleSeatShare, idleSeatsAt } from "./idle-seats.ts";
import { cachedCall, type Subject, seedSubjects, writeRegistry } from "./subjects.ts";

const IN_FLIGHT = 64;
const ROUND_MS = 8_000;
/** Time until the runtimes have compiled the code: a service runs for days. */
const WARM_UP_MS = 15_000;
const HALF_LOAD_MS = 15_000;
const NEIGHBOUR_PER_SECOND = 1.5;

/** Cached verifications through real processes, alternating with a bare handler under the same conditions. */
export const verifyBenchmark: Benchmark = {
  name: "verify",
  about: "cached verifications per second against a bare gRPC handler with one read and one insert",
  conditions: {
    baseline: "grpc-js handler: one indexed read, one insert {w: majority, j: true}, no telemetry",
    concurrency: IN_FLIGHT,
    vendors: "the same 100: of the one organization, and four of each of the 25",
    document_shape: "one sam_registration result of a registry entity, about 0.5 KB",
    telemetry: "every span exported over OTLP to a sink on this machine",
    processes: "verification, entity, relay to a real broker, MongoDB, all on this machine with the load",
    verify_rounds: `of ${ROUND_MS / 1_000} s each, alternating`,
  },
  rows: [
    {
      name: "cached",
      sizes: { rounds: { long: 5, short: 3 } },
      targets: {
        ratio_to_bare: { at_least: 0.75 },
        p99_to_bare: { at_most: 2 },
        ratio_to_bare_one: { at_least: 0.8 },
        p99_to_bare_one: { at_most: 1.5 },
        many_to_one: { at_least: 0.95 },
        beside_to_alone: { at_least: 0.9 },
        idle_seat_share: { at_most: 0 },
        answer_to_kafka_p99_ms: { at_most: 250 },
      },
      measure,
    },
  ],
};

async function measure(
  { servers, prefix, folder, log, onClose }: RowBench,
  { rounds: count }: { rounds: number },
): Promise<Figures> {
  const sink = await startHelper({ name: "otlp-sink", script: join(import.meta.dirname, "../otlp-sink.ts") });
  onClose(() => sink.stop());
  const profileDir = process.env.BENCH_PROFILE_DIR;
  const stack = await startVerificationStack({
    servers,
    prefix,
    folder,
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.line, OTEL_TRACES_SAMPLER: "always_on" },
    registry: await writeRegistry(folder),
    nodeOptions: profileDir ? ["--cpu-prof", `--cpu-prof-dir=${profileDir}`] : [],
    log,
  });
  onClose(() => stack.stop());
  const { one, many } = await seedSubjects(stack);
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

  const sides = {
    bare: caller(bareClient, many),
    many: caller(stack.verifications, many),
    one: caller(stack.verifications, one),
    beside: caller(stack.verifications, one),
  };
  log("Warming up ...");
  await closedLoop({ inFlight: IN_FLIGHT, forMs: WARM_UP_MS, call: sides.bare });
  await closedLoop({ inFlight: IN_FLIGHT, forMs: WARM_UP_MS, call: sides.many });

  const another = caller(stack.verifications, many.slice(0, 1));
  const idleSeats = () => idleSeatsAt(Object.values(stack.ports).map(({ admin }) => admin));
  const idleBefore = await idleSeats();
  const rounds = await alternate({ count, sides, another, spansSoFar: () => spansAt(sink.line), log });
  const idleShare = idleSeatShare(idleBefore, await idleSeats());
  const perSecond = median(rounds.many.map((round) => round.perSecond));
  log(`Half load: ${Math.round(perSecond / 2)} a second ...`);
  const toKafka = await answerToKafka({ servers, prefix, stack, subjects: many, perSecond: perSecond / 2 });

  const [bareResult, productResult, oneResult] = [rounds.bare, rounds.many, rounds.one].map(summary) as [
    Summary,
    Summary,
    Summary,
  ];
  const ratio = (of: Side, to: Side) =>
    round(median(rounds[of].map((each, index) => each.perSecond / rounds[to][index]!.perSecond)), 3);
  return {
    bare_per_second: bareResult.perSecond,
    bare_p50_ms: bareResult.p50,
    bare_p99_ms: bareResult.p99,
    verify_per_second: productResult.perSecond,
    verify_p50_ms: productResult.p50,
    verify_p99_ms: productResult.p99,
    one_organization_per_second: oneResult.perSecond,
    one_organization_p99_ms: oneResult.p99,
    ratio_to_bare: ratio("many", "bare"),
    p99_to_bare: round(productResult.p99 / bareResult.p99, 2),
    ratio_to_bare_one: ratio("one", "bare"),
    p99_to_bare_one: round(oneResult.p99 / bareResult.p99, 2),
    many_to_one: ratio("many", "one"),
    beside_to_alone: ratio("beside", "one"),
    idle_seat_share: round(idleShare, 6),
    failed_calls: SIDES.flatMap((side) => rounds[side]).reduce((sum, { failed }) => sum + failed, 0) + toKafka.failed,
    spans_per_verification: round(rounds.spansPerCall, 1),
    half_load_per_second: round(toKafka.perSecond, 0),
    half_load_p99_ms: round(toKafka.p99, 1),
    answer_to_kafka_p50_ms: round(percentile(toKafka.lagsMs, 50), 1),
    answer_to_kafka_p99_ms: round(percentile(toKafka.lagsMs, 99), 1),
  };
}

/** Returns a function that verifies the subjects in rotation. */
function caller(client: Pick<Client<typeof VerificationService>, "verify">, subjects: readonly Subject[]) {
  let next = 0;
  return () => client.verify(cachedCall(subjects[next++ % subjects.length]!));
}

/** The bare handler; 25 organizations; one alone; the same one beside another that calls 1.5 times a second. */
const SIDES = ["bare", "many", "one", "beside"] as const;
type Side = (typeof SIDES)[number];

async function alternate(options: {
  count: number;
  sides: Readonly<Record<Side, () => Promise<unknown>>>;
  another: () => Promise<unknown>;
  spansSoFar: () => Promise<number>;
  log: (line: string) => void;
}) {
  const rounds: Record<Side, LoadResult[]> & { spansPerCall: number } = {
    ...{ bare: [], many: [], one: [], beside: [] },
    spansPerCall: 0,
  };
  let spans = 0;
  let calls = 0;
  for (let index = 1; index <= options.count; index++) {
    for (const side of SIDES) {
      const before = await options.spansSoFar();
      const neighbour =
        side === "beside" && openLoop({ perSecond: NEIGHBOUR_PER_SECOND, forMs: ROUND_MS, call: options.another });
      const result = await closedLoop({ inFlight: IN_FLIGHT, forMs: ROUND_MS, call: options.sides[side] });
      await neighbour;
      if (side === "many") {
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
    topic: `${prefix}.live.verification.completed.direct`,
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

type Summary = ReturnType<typeof summary>;

function summary(rounds: readonly LoadResult[]) {
  const latencies = sorted(rounds.flatMap(({ latenciesMs }) => latenciesMs));
  return {
    perSecond: round(median(rounds.map(({ perSecond }) => perSecond)), 0),
    p50: round(percentile(latencies, 50), 1),
    p99: round(percentile(latencies, 99), 1),
  };
}
