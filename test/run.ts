import { runChecks } from "./checks.ts";
import { withTestCluster } from "./cluster/given.ts";
import { type Tally, tallyOfJest } from "./run-jest.ts";

const CLUSTER = "--cluster";

/** Every check and every test, with --cluster also those on a cluster; the last line says how many passed and failed. */
async function main(args: readonly string[]): Promise<number> {
  const tallies: Tally[] = [{ skipped: 0, ...(await runChecks()) }];
  tallies.push(await tallyOfJest(args.filter((one) => one !== CLUSTER)));
  if (args.includes(CLUSTER)) {
    tallies.push(await withTestCluster(() => tallyOfJest(["--config", "test/cluster/jest.config.mjs"])));
  }
  const sum = (part: keyof Tally) => tallies.reduce((total, tally) => total + tally[part], 0);
  const skipped = sum("skipped");
  console.log(`${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return sum("failed") === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
