import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { runJest } from "./jest.ts";

interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numRuntimeErrorTestSuites: number;
  /** One for each file; times in milliseconds since 1970. */
  testResults: { name: string; startTime: number; endTime: number }[];
}

/** How many tests passed and failed, and how long each file took. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly files: readonly FileDuration[];
}

export interface FileDuration {
  readonly file: string;
  readonly seconds: number;
}

/** Runs jest and returns its counts. A run that fails without a failed test counts as one failure. */
export async function tallyOfJest(args: readonly string[]): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), "vvs-test-"));
  const outputFile = join(folder, "jest.json");
  const exitCode = await runJest(["--json", "--outputFile", outputFile, ...args]);
  const result = existsSync(outputFile) ? (JSON.parse(readFileSync(outputFile, "utf8")) as JestResult) : undefined;
  rmSync(folder, { recursive: true, force: true });
  const failed = (result?.numFailedTests ?? 0) + (result?.numRuntimeErrorTestSuites ?? 0);
  return {
    passed: result?.numPassedTests ?? 0,
    // Jest can fail without a failed test: a setup that broke, an open handle, no result at all.
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: result?.numPendingTests ?? 0,
    files: (result?.testResults ?? []).map(({ name, startTime, endTime }) => ({
      file: relative(process.cwd(), name),
      seconds: (endTime - startTime) / 1_000,
    })),
  };
}
