import type { OnProgress, Progress } from "./progress.ts";

/** Where progress is shown. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ProgressDisplay {
  readonly onProgress: OnProgress;
  /** Leaves no half a line behind. */
  end(): void;
}

const REDRAW_MS = 100;
const LINE_EVERY_MS = 5_000;
const BAR_WIDTH = 24;

/**
 * Shows how far a load has come, with its rate and the time that is left at that rate: as a bar that is drawn over
 * itself on a terminal, as a line every few seconds elsewhere.
 */
export function createProgressDisplay(options: { screen: Screen; title: string; now: () => Date }): ProgressDisplay {
  const { screen, title, now } = options;
  let phase: Progress["phase"] | undefined;
  let startedAt = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  let isLineOpen = false;
  const end = () => {
    if (isLineOpen) screen.write("\n");
    isLineOpen = false;
  };
  return {
    onProgress(progress) {
      const at = now().getTime();
      if (progress.phase !== phase) {
        end();
        phase = progress.phase;
        startedAt = at;
        shownAt = screen.isTTY ? Number.NEGATIVE_INFINITY : at;
      }
      const isLast = screen.isTTY && progress.done === progress.total;
      if (!isLast && at - shownAt < (screen.isTTY ? REDRAW_MS : LINE_EVERY_MS)) return;
      shownAt = at;
      const text = `${title}: ${progressText(progress, (at - startedAt) / 1_000, screen.isTTY === true)}`;
      if (!screen.isTTY) screen.write(`${text}\n`);
      else {
        screen.write(`\r\x1b[2K${text.slice(0, (screen.columns ?? 80) - 1)}`);
        isLineOpen = true;
      }
    },
    end,
  };
}

/** One line about a phase that has run for so many seconds. */
export function progressText({ phase, done, total }: Progress, seconds: number, withBar: boolean): string {
  if (total === 0) return `${phase} (${amountText(phase, done)})`;
  const share = Math.min(1, done / total);
  const filled = Math.round(share * BAR_WIDTH);
  const bar = withBar ? `[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}] ` : "";
  const perSecond = seconds > 0 ? done / seconds : 0;
  const left = perSecond > 0 ? `, ${durationText((total - done) / perSecond)} left` : "";
  const amount = `${amountText(phase, done)} of ${amountText(phase, total)}, ${amountText(phase, perSecond)}/s`;
  return `${phase} ${bar}${Math.floor(share * 100)} % (${amount}${left})`;
}

function amountText(phase: Progress["phase"], amount: number): string {
  if (phase === "applying") return `${Math.round(amount).toLocaleString("en-US")} rows`;
  return `${(amount / 1_000_000).toFixed(amount < 10_000_000 ? 1 : 0)} MB`;
}

function durationText(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60)];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
}
