import { readFileSync, rmSync, writeFileSync } from "node:fs";

/** Which process runs the local run of this checkout. */
export interface RunFile {
  readonly pid: number;
  /** When the process started, in the system's own ticks: a pid that was given again is not the run. */
  readonly started: string;
}

export function writeRunFile(path: string): void {
  writeFileSync(path, `${JSON.stringify({ pid: process.pid, started: startOf(process.pid) })}\n`, { mode: 0o600 });
}

export function removeRunFile(path: string): void {
  rmSync(path, { force: true });
}

/** The pid of the run that the file names, if that process still lives. */
export function livingRun(path: string): number | undefined {
  let run: RunFile;
  try {
    run = JSON.parse(readFileSync(path, "utf8")) as RunFile;
  } catch {
    return undefined;
  }
  return isAlive(run.pid) && startOf(run.pid) === run.started ? run.pid : undefined;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A process's start time on Linux; elsewhere nothing, and the pid alone decides. */
function startOf(pid: number): string {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return fields[19]!;
  } catch {
    return "";
  }
}
