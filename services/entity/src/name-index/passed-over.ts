/** A full index is rebuilt once there were fewer than CALM_CHANGES changes in CALM_MS, … */
const CALM_CHANGES = 100;
const CALM_MS = 5_000;
/** … and at the latest after this time. */
const LONGEST_MS = 600_000;

/** The changes that a full index skips. */
export interface PassedOver {
  add(): void;
  /** True once: when changes have become rare, when `most` were skipped, or after ten minutes. */
  isRenewalDue(): boolean;
}

/** Counts skipped changes; `now` returns milliseconds. */
export function createPassedOver({ most, now }: { most: number; now: () => number }): PassedOver {
  let beganAt: number | undefined;
  let windowAt = 0;
  let inWindow = 0;
  let total = 0;
  let isReported = false;
  return {
    add() {
      inWindow++;
      total++;
    },
    isRenewalDue() {
      if (isReported) return false;
      if (beganAt === undefined) {
        beganAt = now();
        windowAt = beganAt;
      }
      const isTooMuch = total >= most || now() - beganAt >= LONGEST_MS;
      const isWindowOver = now() - windowAt >= CALM_MS;
      isReported = isTooMuch || (isWindowOver && inWindow < CALM_CHANGES);
      if (isWindowOver) {
        windowAt = now();
        inWindow = 0;
      }
      return isReported;
    },
  };
}
