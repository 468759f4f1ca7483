import type { Job } from "@vendor-verification/client";
import type { Output } from "../output.ts";

const LINE_EVERY_MS = 10_000;
const BAR_WIDTH = 24;

type Progress = Pick<Job, "done" | "total" | "counts">;

/** Shows how far a job is: a bar in one line of a terminal; without a terminal a line every 10 seconds. */
export function createProgress({ terminal, note }: Pick<Output, "terminal" | "note">, now: () => number) {
  const startedAt = now();
  let lineAt = startedAt + LINE_EVERY_MS;
  let first: number | undefined;
  return {
    draw(job: Progress): void {
      const at = now();
      first ??= job.done;
      const text = progressText(job, (job.done - first) / Math.max(1, at - startedAt));
      if (terminal) {
        const line = `${bar(job)} ${text}`;
        terminal.write(`\r${line.slice(0, (terminal.columns ?? 80) - 1)}\u001b[K`);
      } else if (at >= lineAt) {
        lineAt = at + LINE_EVERY_MS;
        note(text);
      }
    },
    clear: () => void terminal?.write("\r\u001b[K"),
  };
}

/** Returns how many rows are done, with which outcomes, and about how long the others take at `perMs` rows a millisecond. */
export function progressText({ done, total, counts }: Progress, perMs: number): string {
  const outcomes = Object.entries(counts).filter(([, rows]) => rows > 0);
  const words = outcomes.map(([outcome, rows]) => `${rows} ${outcome}`).join(", ");
  const open = total - done - counts.waiting;
  const left = perMs > 0 && open > 0 ? `${duration(open / perMs)} left` : "";
  return [`${done}/${total}`, words, left].filter(Boolean).join("  ");
}

function bar({ done, total }: Progress): string {
  const filled = Math.floor((done / total) * BAR_WIDTH);
  return `[${"#".repeat(filled)}${".".repeat(BAR_WIDTH - filled)}]`;
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
