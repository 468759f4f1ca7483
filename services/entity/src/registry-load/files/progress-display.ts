/** The progress of a load or a download. */
export interface Progress {
  /** A load first reads the whole file (`done` and `total` are bytes of its text), then applies its rows. */
  readonly phase: "downloading" | "checking" | "applying";
  readonly done: number;
  /** 0 if unknown. */
  readonly total: number;
}

/** Called often. */
export type OnProgress = (progress: Progress) => void;

/** Where progress is shown. */
interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const REDRAW_MS = 100;
const LINE_EVERY_MS = 5_000;
const BAR_WIDTH = 24;

/**
 * Shows the progress of a load, with its rate and the remaining time at that rate: on a terminal as a bar that is redrawn
 * in place, elsewhere as a line every few seconds. `end` completes the last line.
 */
export function createProgressDisplay(options: { screen: Screen; title: string; now: () => Date }) {
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
    onProgress(progress: Progress): void {
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

/** Returns a line on a phase that has been running for `seconds`. */
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
