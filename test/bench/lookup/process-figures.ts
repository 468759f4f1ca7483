import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Milliseconds of processor time that a process has used so far, all of its threads together (Linux). */
export function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (ticks * 1_000) / ticksPerSecond();
}

/** Resident megabytes of a process now, and at most so far (Linux). */
export function memoryOf(pid: number): { rssMb: number; peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mb = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1_024);
  return { rssMb: mb("VmRSS"), peakMb: mb("VmHWM") };
}

function ticksPerSecond(): number {
  return Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
}
