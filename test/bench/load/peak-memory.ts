// Imported before a command: tells on stderr, once it ends, how much memory it had at most.
import { readFileSync, writeSync } from "node:fs";

process.on("exit", () => writeSync(2, `peak_rss_mb ${peakMb().toFixed(1)}\n`));

/** On Linux by the process's own mark: the usual figure begins with that of whoever started it. */
function peakMb(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    if (kilobytes) return (Number(kilobytes) * 1_024) / 1_000_000;
  } catch {
    // There is no such file elsewhere.
  }
  return (process.resourceUsage().maxRSS * 1_024) / 1_000_000;
}
