// Imported before a command: prints the command's peak memory to stderr when it ends.
import { readFileSync, writeSync } from "node:fs";

process.on("exit", () => writeSync(2, `peak_rss_mb ${peakMb().toFixed(1)}\n`));

/** Uses the process's own peak on Linux: maxRSS there begins with the peak of the parent process. */
function peakMb(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    if (kilobytes) return (Number(kilobytes) * 1_024) / 1_000_000;
  } catch {
    // Other systems have no such file.
  }
  return (process.resourceUsage().maxRSS * 1_024) / 1_000_000;
}
