import type { Benchmark, Figures, RowBench } from "../benchmark.ts";
import { percentile } from "../load.ts";
import { nameModelOf } from "../registry/extract.ts";
import { textOf } from "../registry/names.ts";
import { round } from "../round.ts";
import { measureByIdentifier } from "./by-identifier.ts";
import { measureByName } from "./by-name.ts";
import { type GeneratedQuery, generateQueries } from "./generated-queries.ts";
import { readFiles, runInProcess } from "./in-process.ts";
import { judge } from "./judgement.ts";
import { startLoadedService } from "./loaded-service.ts";

const size = { long: 1_000_000, short: 60_000 };
const seed = { long: 1, short: 1 };
const serviceConditions = {
  telemetry: "every span exported over OTLP to a sink on this machine",
  processes: "entity service, MongoDB and the client, one call at a time, all on this machine",
};

const byName = {
  first_mean: { at_least: 0.92 },
  first_least: { at_least: 0.8 },
  first_drop: { at_least: 0.65 },
  among_ten_mean: { at_least: 0.97 },
  absent_not_sure: { at_least: 0.95 },
  plain_sure_and_right: { at_least: 0.9 },
  calibration_error: { at_most: 0.05 },
  name_p50_ms: { at_most: 3 },
  name_p99_ms: { at_most: 40 },
  name_cpu_ms: { at_most: 2 },
} as const;

/** Look-ups by a typed name, among as many names as the registry has, and by identifier. */
export const lookupBenchmark: Benchmark = {
  name: "lookup",
  about: "look-ups by name among a million, by kind of error, and by identifier against a bare findOne",
  conditions: {
    right: "the true record, or one with the same normalized name, or with the same confidence as the first",
  },
  rows: [
    {
      name: "identifiers",
      conditions: {
        ...serviceConditions,
        baseline: "a grpc-js handler with one findOne and the same telemetry, alternating",
      },
      sizes: { size, seed, rounds: { long: 7, short: 5 } },
      targets: { identifier_p50_to_bare: { at_most: 1.4 } },
      measure: measureIdentifiers,
    },
    {
      name: "names",
      conditions: serviceConditions,
      sizes: { size, seed, "per-category": { long: 400, short: 200 } },
      targets: {
        ...byName,
        index_up_seconds: { at_most: 60 },
        failed_before_index: { at_most: 0 },
        rss_mb: { at_most: 750 },
        swap_peak_mb: { at_most: 1_200 },
      },
      measure: measureNames,
    },
    {
      name: "files",
      conditions: { path: "index, scorer and rules of the product in this process, without gRPC and MongoDB" },
      files: ["names", "queries"],
      usesServers: false,
      targets: byName,
      measure: measureFiles,
    },
    {
      name: "recombined",
      conditions: { path: "index, scorer and rules of the product in this process, without gRPC and MongoDB" },
      files: ["real-names"],
      sizes: { size, seed, "per-category": { long: 400, short: 200 } },
      usesServers: false,
      targets: byName,
      measure: measureRecombined,
    },
  ],
};

async function measureNames(
  bench: RowBench,
  { size, seed, "per-category": perCategory }: { size: number; seed: number; "per-category": number },
): Promise<Figures> {
  const { service, names } = await loadedService(bench, size, seed);
  bench.log("Generating queries ...");
  const queries = generateQueries({ names, seed, size, perCategory });
  bench.log(`Running ${queries.length} queries by name ...`);
  return await measureByName(service, queries, bench.log);
}

async function measureIdentifiers(
  bench: RowBench,
  { size, seed, rounds }: { size: number; seed: number; rounds: number },
): Promise<Figures> {
  const { service } = await loadedService(bench, size, seed);
  return await measureByIdentifier(service, { seed, size, rounds });
}

function loadedService(bench: RowBench, size: number, seed: number) {
  return bench.share(`${size} names of ${seed}`, async (shared) => {
    const names = await nameModelOf(seed);
    return { names, service: await startLoadedService(shared, { size, seed, names }) };
  });
}

async function measureFiles({ files, log }: RowBench): Promise<Figures> {
  return await measureInProcess({ ...readFiles({ namesFile: files.names!, queriesFile: files.queries! }), log });
}

/** Measures names that are recombined from the words of real ones. */
async function measureRecombined(
  { files, log }: RowBench,
  { size, seed, "per-category": perCategory }: { size: number; seed: number; "per-category": number },
): Promise<Figures> {
  const names = await nameModelOf(seed, files["real-names"]);
  const texts = Array.from({ length: size }, (_, index) => textOf(names.nameAt(index)));
  return await measureInProcess({ names: texts, queries: generateQueries({ names, seed, size, perCategory }), log });
}

async function measureInProcess(options: {
  names: readonly string[];
  queries: readonly GeneratedQuery[];
  log: (line: string) => void;
}): Promise<Figures> {
  const run = await runInProcess(options);
  return {
    names: run.names,
    queries: run.outcomes.length,
    ...judge(run.outcomes),
    name_p50_ms: round(percentile(run.latenciesMs, 50), 2),
    name_p99_ms: round(percentile(run.latenciesMs, 99), 2),
    name_cpu_ms: round(run.cpuMsPerQuery, 2),
    build_seconds: round(run.buildSeconds, 1),
  };
}
