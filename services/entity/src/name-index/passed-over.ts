/** While much changes nothing is read anew: only once there were fewer changes than this for so long. */
const CALM_CHANGES = 100;
const CALM_MS = 5_000;
/** But at the latest after this. */
const LONGEST_MS = 600_000;

/** The changes that an index which is full passes over. */
export interface PassedOver {
  add(): void;
  /**
   * Told once, of an index that is full: changes have become few, or so many were passed over that the index is of
   * little use. With as many as it holds, that of a registry's first load is built anew each time it has doubled.
   */
  isRenewalDue(): boolean;
}

/** `most` are passed over at the most; `now` tells milliseconds. */
export function createPassedOver({ most, now }: { most: number; now: () => number }): PassedOver {
  let beganAt: number | undefined;
  let windowAt = 0;
  let inWindow = 0;
  let total = 0;
  let isTold = false;
  return {
    add() {
      inWindow++;
      total++;
    },
    isRenewalDue() {
      if (isTold) return false;
      if (beganAt === undefined) {
        beganAt = now();
        windowAt = beganAt;
      }
      const isTooMuch = total >= most || now() - beganAt >= LONGEST_MS;
      const isWindowOver = now() - windowAt >= CALM_MS;
      isTold = isTooMuch || (isWindowOver && inWindow < CALM_CHANGES);
      if (isWindowOver) {
        windowAt = now();
        inWindow = 0;
      }
      return isTold;
    },
  };
}
