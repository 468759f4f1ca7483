import { cpus } from "node:os";
import type { Benchmark, Measured } from "../benchmark.ts";
import { percentile } from "../load.ts";
import { nameModelOf } from "../registry/extract.ts";
import { type Arguments, parseArguments, usage } from "./arguments.ts";
import { measureByIdentifier } from "./by-identifier.ts";
import { measureByName } from "./by-name.ts";
import { generateQueries } from "./generated-queries.ts";
import { runInProcess } from "./in-process.ts";
import { judge } from "./judgement.ts";
import { startLoadedService } from "./loaded-service.ts";

const RIGHT = "the true record, or one with the same normalized name, or with the same confidence as the first";

const quality = {
  first_mean: { at_least: 0.92 },
  first_least: { at_least: 0.8 },
  first_drop: { at_least: 0.65 },
  among_ten_mean: { at_least: 0.97 },
  absent_not_sure: { at_least: 0.95 },
  plain_sure_and_right: { at_least: 0.9 },
  calibration_error: { at_most: 0.05 },
} as const;

/** Look-ups by a typed name, among as many names as the registry has, and by identifier. */
export const lookupBenchmark: Benchmark = {
  name: "lookup",
  about: "look-ups by name among a million, by kind of error, and by identifier against a bare findOne",
  usage,
  targets: {
    ...quality,
    name_p50_ms: { at_most: 3 },
    name_p99_ms: { at_most: 40 },
    name_cpu_ms: { at_most: 2 },
    index_up_seconds: { at_most: 60 },
    failed_before_index: { at_most: 0 },
    rss_mb: { at_most: 750 },
    swap_peak_mb: { at_most: 1_200 },
    identifier_p50_to_bare: { at_most: 1.4 },
  },
  async run(log, args) {
    const parsed = parseArguments(args);
    return parsed.namesFile === undefined ? ofService(parsed, log) : ofFiles(parsed, log);
  },
};

async function ofService(
  { size, seed, perCategory, parts }: Extract<Arguments, { size: number }>,
  log: (line: string) => void,
): Promise<Measured> {
  const closes: (() => unknown)[] = [];
  try {
    const names = await nameModelOf(seed);
    const service = await startLoadedService({ size, seed, names, log, onClose: (close) => closes.push(close) });
    const figures: Record<string, number> = {};
    if (parts.includes("identifiers")) Object.assign(figures, await measureByIdentifier(service, { seed, size }));
    if (parts.includes("names")) {
      log("Generating queries ...");
      const queries = generateQueries({ names, seed, size, perCategory });
      log(`Running ${queries.length} queries by name ...`);
      Object.assign(figures, await measureByName(service, queries, log));
    }
    return {
      conditions: {
        baseline: "by identifier: a grpc-js handler with one findOne and the same telemetry, alternating",
        right: RIGHT,
        rows: size,
        seed,
        telemetry: "every span exported over OTLP to a sink on this machine",
        processes: "entity service, MongoDB and the client, one call at a time, all on this machine",
        processors: cpus().length,
      },
      figures,
      judged: Object.keys(figures),
    };
  } finally {
    for (const close of closes.toReversed()) await close();
  }
}

async function ofFiles(
  files: { namesFile: string; queriesFile: string },
  log: (line: string) => void,
): Promise<Measured> {
  const run = await runInProcess({ ...files, log });
  const figures = {
    names: run.names,
    queries: run.outcomes.length,
    ...judge(run.outcomes),
    name_p50_ms: Number(percentile(run.latenciesMs, 50).toFixed(2)),
    name_p99_ms: Number(percentile(run.latenciesMs, 99).toFixed(2)),
    name_cpu_ms: Number(run.cpuMsPerQuery.toFixed(2)),
    build_seconds: Number(run.buildSeconds.toFixed(1)),
  };
  return {
    conditions: {
      path: "index, scorer and rules of the product in this process, without gRPC and MongoDB",
      right: RIGHT,
      processors: cpus().length,
    },
    figures,
    judged: Object.keys(figures),
  };
}
