import { readFileSync, rmSync, writeFileSync } from "node:fs";

/** The process of this checkout's local run. */
export interface RunFile {
  readonly pid: number;
  /** Start of the process in the system's ticks, which distinguishes it from a later process with the same pid. */
  readonly started: string;
}

export function writeRunFile(path: string): void {
  writeFileSync(path, `${JSON.stringify({ pid: process.pid, started: startOf(process.pid) })}\n`, { mode: 0o600 });
}

export function removeRunFile(path: string): void {
  rmSync(path, { force: true });
}

/** Returns the pid in the file if that process still runs. */
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

/** Returns a process's start time on Linux; elsewhere an empty text, and only the pid is compared. */
function startOf(pid: number): string {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return fields[19]!;
  } catch {
    return "";
  }
}
