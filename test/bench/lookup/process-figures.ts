import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Returns the milliseconds of processor time that all threads of a process have used so far (Linux). */
export function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (ticks * 1_000) / ticksPerSecond();
}

/** Returns the resident memory of a process in megabytes, now and at its peak so far (Linux). */
export function memoryOf(pid: number): { rssMb: number; peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mb = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1_024);
  return { rssMb: mb("VmRSS"), peakMb: mb("VmHWM") };
}

function ticksPerSecond(): number {
  return Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
}
