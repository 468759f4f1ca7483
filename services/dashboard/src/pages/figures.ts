import type { UsageRange } from "../usage.ts";

/** An hour or day of a range for people, UTC. */
export function labelOf(at: Date, { interval }: UsageRange): string {
  const iso = at.toISOString();
  return interval === "day" ? iso.slice(0, 10) : `${iso.slice(5, 10)} ${iso.slice(11, 16)}`;
}

/** A duration for people. */
export function durationText(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
