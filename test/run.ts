import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChecks } from "./checks.ts";
import { runJest } from "./jest.ts";

interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numRuntimeErrorTestSuites: number;
  success: boolean;
}

/** Every check and every test; the last line says how many passed and failed. */
async function main(): Promise<number> {
  const tally = await runChecks();
  const folder = mkdtempSync(join(tmpdir(), "vvs-test-"));
  const outputFile = join(folder, "jest.json");
  const exitCode = await runJest(["--json", "--outputFile", outputFile, ...process.argv.slice(2)]);
  const result = existsSync(outputFile) ? (JSON.parse(readFileSync(outputFile, "utf8")) as JestResult) : undefined;
  rmSync(folder, { recursive: true, force: true });

  const passed = tally.passed + (result?.numPassedTests ?? 0);
  const suitesBroken = result?.numRuntimeErrorTestSuites ?? 0;
  const jestFailed = (result?.numFailedTests ?? 0) + suitesBroken;
  // Jest can fail without a failed test: a setup that broke, an open handle, no result at all.
  const failed = tally.failed + (jestFailed === 0 && exitCode !== 0 ? 1 : jestFailed);
  const skipped = result?.numPendingTests ?? 0;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
