import { runChecks } from "./checks.ts";
import { withTestCluster } from "./cluster/given.ts";
import { type FileDuration, type Tally, tallyOfJest } from "./run-jest.ts";

const ALL = "--all";
const SLOWEST = 10;

/** One run for the tests that use the whole product, and one for all others. */
const runs = (withAll: boolean) => [
  ["unit", "charts", "processes"],
  ["system", "fuzz", "alone", ...(withAll ? ["clients"] : [])],
];

/**
 * Runs all checks and tests, with --all also those of generated clients and on a cluster. The last line says how many passed
 * and failed.
 */
async function main(args: readonly string[]): Promise<number> {
  const withAll = args.includes(ALL);
  const chosen = args.filter((one) => one !== ALL);
  const jestArgs = chosen.length > 0 ? [...chosen, "--passWithNoTests"] : [];
  const tallies: Tally[] = [{ skipped: 0, files: [], ...(await runChecks()) }];
  // Most tests wait more than they compute, so several files run at a time.
  for (const projects of runs(withAll)) {
    tallies.push(await tallyOfJest(["--selectProjects", ...projects, "--maxWorkers=3", ...jestArgs]));
  }
  if (withAll) tallies.push(await withTestCluster(() => tallyOfJest(["--config", "test/cluster/jest.config.mjs"])));
  printSlowest(tallies.flatMap(({ files }) => files));
  const sum = (part: "passed" | "failed" | "skipped") => tallies.reduce((total, tally) => total + tally[part], 0);
  const skipped = sum("skipped");
  console.log(`${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return sum("failed") === 0 ? 0 : 1;
}

function printSlowest(files: readonly FileDuration[]): void {
  console.log(`The ${SLOWEST} slowest test files:`);
  for (const { file, seconds } of files.toSorted((left, right) => right.seconds - left.seconds).slice(0, SLOWEST)) {
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`);
  }
}

process.exitCode = await main(process.argv.slice(2));
