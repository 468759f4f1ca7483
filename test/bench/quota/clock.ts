/** A simulated clock; it only moves forward. */
export interface Clock {
  readonly now: () => Date;
  /** Sets the time, in milliseconds; an earlier time changes nothing. */
  readonly set: (moment: number) => void;
}

/** Creates a clock that shows this time, in milliseconds, until it is set. */
export function createClock(start: number): Clock {
  let moment = start;
  return {
    now: () => new Date(moment),
    set(next) {
      moment = Math.max(moment, next);
    },
  };
}
