import { ALL_USAGE, runAll } from "./all.ts";
import { type Benchmark, holds, reportOf, tableOf, UsageError } from "./benchmark.ts";
import { deliverBenchmark } from "./deliver/benchmark.ts";
import { edgeBenchmark } from "./edge/benchmark.ts";
import { jobsBenchmark } from "./jobs/benchmark.ts";
import { kafkaAwayBenchmark } from "./kafka-away.ts";
import { loadBenchmark } from "./load/benchmark.ts";
import { lookupBenchmark } from "./lookup/benchmark.ts";
import { monitorBenchmark } from "./monitor/benchmark.ts";
import { neighboursBenchmark } from "./neighbours/benchmark.ts";
import { quotaBenchmark } from "./quota/benchmark.ts";
import { chosenRows, measureRows, usageOf } from "./rows.ts";
import { vendorsBenchmark } from "./vendors/benchmark.ts";
import { verifyBenchmark } from "./verify/benchmark.ts";

const benchmarks: readonly Benchmark[] = [
  verifyBenchmark,
  jobsBenchmark,
  deliverBenchmark,
  edgeBenchmark,
  kafkaAwayBenchmark,
  loadBenchmark,
  lookupBenchmark,
  quotaBenchmark,
  monitorBenchmark,
  neighboursBenchmark,
  vendorsBenchmark,
];

const USAGE = `npm run bench -- NAME [ITS ARGUMENTS] [--json] | all ${ALL_USAGE} [--json] | list [--json]`;
const log = (line: string) => void process.stderr.write(`${line}\n`);

async function main(given: readonly string[]): Promise<number> {
  const json = given.includes("--json");
  const [name, ...args] = given.filter((each) => each !== "--json");
  const benchmark = benchmarks.find((each) => each.name === name);
  try {
    if (name === "all") return await runAll({ benchmarks, args, json, log, print: console.log });
    if (name === "list" && args.length === 0) return list(json);
    if (!benchmark) throw new UsageError(`Benchmarks: ${benchmarks.map((each) => each.name).join(", ")}`);
    const report = reportOf(benchmark, await measureRows(chosenRows(benchmark, args, "long"), log));
    console.log(`${benchmark.name}: ${benchmark.about}\n\n${tableOf(report)}`);
    if (json) console.log(JSON.stringify(report));
    return holds(report) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const usage = benchmark ? `npm run bench -- ${benchmark.name} ${usageOf(benchmark)} [--json]` : USAGE;
    console.error(`${error.message}\n${usage}`);
    return 2;
  }
}

function list(json: boolean): number {
  if (json) console.log(JSON.stringify(benchmarks.map(({ name, about }) => ({ bench: name, about }))));
  else for (const each of benchmarks) console.log(`${each.name.padEnd(14)}${each.about} ${usageOf(each)}`.trimEnd());
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
