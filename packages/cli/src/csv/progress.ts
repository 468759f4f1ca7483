import type { Sink } from "../output.ts";
import type { RowResult } from "./results.ts";

export type Counts = Readonly<Record<RowResult, number>>;

const REDRAW_MS = 100;
const BAR_WIDTH = 24;

/** Draws a progress bar in one line of a terminal, and nothing without a terminal. */
export function createProgress(options: { terminal: Sink | undefined; total: number; now: () => number }) {
  const { terminal, total, now } = options;
  const startedAt = now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  let first: number | undefined;
  return {
    draw(counts: Counts): void {
      const at = now();
      const done = sum(counts);
      first ??= done;
      if (!terminal || (at - drawnAt < REDRAW_MS && done < total)) return;
      drawnAt = at;
      const line = progressLine(counts, { total, perMs: (done - first) / Math.max(1, at - startedAt) });
      terminal.write(`\r${line.slice(0, (terminal.columns ?? 80) - 1)}\u001b[K`);
    },
    clear: () => void terminal?.write("\r\u001b[K"),
  };
}

/** Returns the line: a bar, how many rows are done, those that did not pass, and about how long it still takes. */
export function progressLine(counts: Counts, { total, perMs }: { total: number; perMs: number }): string {
  const done = sum(counts);
  const filled = total === 0 ? BAR_WIDTH : Math.floor((done / total) * BAR_WIDTH);
  const bar = `[${"#".repeat(filled)}${".".repeat(BAR_WIDTH - filled)}]`;
  const left = perMs > 0 && done < total ? `  ${duration((total - done) / perMs)} left` : "";
  return `${bar} ${done}/${total}  ${wordsOf(counts)}${left}`;
}

/** Returns the counts in words, such as "3 pass, 1 fail". */
export function wordsOf(counts: Counts): string {
  return (["pass", "fail", "error", "refused"] as const)
    .filter((result) => counts[result] > 0 || result === "pass")
    .map((result) => `${counts[result]} ${result}`)
    .join(", ");
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

function sum(counts: Counts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
