import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { projectRoot } from "../../deploy/local/services.ts";
import { type Benchmark, holds, type Measured, type Report, reportOf, UsageError } from "./benchmark.ts";
import { chosenRows, measureRows } from "./rows.ts";
import { compare, type Entry, entriesOf, readTable, writeTable } from "./table.ts";

export const ALL_USAGE = "[--against FILE] [--write FILE]";

const HEADING = "## Last full table";

type Measure = (benchmark: Benchmark, log: (line: string) => void) => Promise<Measured[]>;

/**
 * Measures all benchmarks in their short form and prints one table. Returns the exit code: 1 if one failed or, with
 * `--against`, a ratio is worse than in that file, or without it a target was missed. Errors: UsageError.
 */
export async function runAll(options: {
  readonly benchmarks: readonly Benchmark[];
  readonly args: readonly string[];
  readonly json: boolean;
  readonly log: (line: string) => void;
  readonly print: (text: string) => void;
  readonly measure?: Measure;
}): Promise<number> {
  const { benchmarks, json, log, print, measure = measureShort } = options;
  const { against, write } = argumentsOf(options.args);
  const before = against === undefined ? undefined : readTable(textOf(against));
  const document = write === undefined ? undefined : textOf(write);
  const reports: Report[] = [];
  const entries: Entry[] = [];
  for (const benchmark of benchmarks) {
    const began = performance.now();
    const rows = await measure(benchmark, log).catch((error: Error) => [failed(benchmark, error)]);
    log(`${benchmark.name}: ${Math.round((performance.now() - began) / 1_000)} s`);
    reports.push(reportOf(benchmark, rows));
    entries.push(...entriesOf(benchmark.name, rows));
  }
  const compared = before && compare(entries, before);
  const about = `Commit ${commit()}, ${new Date().toISOString().slice(0, 10)}, short form, ${machine()}.`;
  print(`${about}\n\n${writeTable(entries, compared?.notes)}`);
  for (const each of compared?.worse ?? []) print(`WORSE ${each}`);
  if (document !== undefined) {
    const prose = document.slice(0, document.indexOf(HEADING));
    writeFileSync(write!, `${prose}${HEADING}\n${about}\n\n${writeTable(entries)}\n`);
  }
  if (json)
    print(JSON.stringify({ conditions: about, benchmarks: reports, ...(compared && { worse: compared.worse }) }));
  return (compared ? compared.worse.length === 0 : reports.every(holds)) ? 0 : 1;
}

const measureShort: Measure = async (benchmark, log) => await measureRows(chosenRows(benchmark, [], "short"), log);

/** A benchmark whose servers did not start, for example. */
function failed({ name }: Benchmark, error: Error): Measured {
  return { row: name, conditions: {}, sizes: {}, figures: {}, targets: {}, failure: error.message };
}

function argumentsOf(args: readonly string[]): { against?: string; write?: string } {
  try {
    return parseArgs({ args: [...args], options: { against: { type: "string" }, write: { type: "string" } } }).values;
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

/** Errors: UsageError if the file can't be read or has no place for the table. */
function textOf(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    if (text.includes(HEADING)) return text;
  } catch (cause) {
    throw new UsageError(`${file} can't be read.`, { cause });
  }
  throw new UsageError(`${file} has no heading "${HEADING}".`);
}

function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: projectRoot, encoding: "utf8" }).trim();
  return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain") === "" ? "" : " with changes"}`;
}

function machine(): string {
  return `${cpus().length} processors, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
}
