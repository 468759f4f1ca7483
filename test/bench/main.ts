import { type Benchmark, type Measured, reportOf, tableOf, UsageError } from "./benchmark.ts";
import { deliverBenchmark } from "./deliver/benchmark.ts";
import { edgeBenchmark } from "./edge/benchmark.ts";
import { kafkaAwayBenchmark } from "./kafka-away.ts";
import { loadBenchmark } from "./load/benchmark.ts";
import { lookupBenchmark } from "./lookup/benchmark.ts";
import { monitorBenchmark } from "./monitor/benchmark.ts";
import { neighboursBenchmark } from "./neighbours/benchmark.ts";
import { pairsBenchmark } from "./pairs/benchmark.ts";
import { quotaBenchmark } from "./quota/benchmark.ts";
import { vendorsBenchmark } from "./vendors/benchmark.ts";
import { verifyBenchmark } from "./verify/benchmark.ts";

const benchmarks: readonly Benchmark[] = [
  verifyBenchmark,
  deliverBenchmark,
  edgeBenchmark,
  kafkaAwayBenchmark,
  loadBenchmark,
  lookupBenchmark,
  pairsBenchmark,
  quotaBenchmark,
  monitorBenchmark,
  neighboursBenchmark,
  vendorsBenchmark,
];

const USAGE = "npm run bench -- NAME [ITS ARGUMENTS] [--json] | list [--json]";

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes("--json");
  const [name, ...more] = args.filter((each) => each !== "--json");
  if (name === "list" && more.length === 0) {
    if (json) console.log(JSON.stringify(benchmarks.map((each) => ({ bench: each.name, about: each.about }))));
    else
      for (const each of benchmarks)
        console.log(`${each.name.padEnd(14)}${each.about}${each.usage ? ` [${each.usage}]` : ""}`);
    return 0;
  }
  const benchmark = benchmarks.find((each) => each.name === name);
  if (!benchmark || (more.length > 0 && !benchmark.usage)) {
    console.error(`${USAGE}\nBenchmarks: ${benchmarks.map((each) => each.name).join(", ")}`);
    return 2;
  }
  const measured = await measure(benchmark, more);
  if (!measured) return 2;
  const report = reportOf(benchmark, measured);
  console.log(`${benchmark.name}: ${benchmark.about}\n\n${tableOf(report)}`);
  if (json) console.log(JSON.stringify(report));
  return Object.values(report.targets).every(({ holds }) => holds) ? 0 : 1;
}

async function measure(benchmark: Benchmark, args: readonly string[]): Promise<Measured | undefined> {
  try {
    return await benchmark.run((line) => process.stderr.write(`${line}\n`), args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nnpm run bench -- ${benchmark.name} ${benchmark.usage} [--json]`);
    return undefined;
  }
}

process.exitCode = await main(process.argv.slice(2));
