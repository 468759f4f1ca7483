import { setTimeout as wait } from "node:timers/promises";

/** After a write the server is left to others for this share of the time that it took. */
const REST_SHARE = 0.25;

/** Works on several things at once, so that one is prepared while another is written. */
export interface Lanes {
  /** Begins once a lane is free. Errors: those of work that was begun before. */
  run(work: () => Promise<void>): Promise<void>;
  /** Waits for all that was begun. Errors: those of that work. */
  finish(): Promise<void>;
  /** Waits for what is under way, whatever comes of it. */
  close(): Promise<void>;
}

/** Runs work, and a rest, as soon as all that was handed in before has ended, however it ended. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function createLanes(count: number): Lanes {
  const busy = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  const throwFailure = () => {
    if (failure) throw failure.error;
  };
  return {
    async run(work) {
      while (busy.size >= count) await Promise.race(busy);
      throwFailure();
      const running = work()
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => busy.delete(running));
      busy.add(running);
    },
    async finish() {
      await Promise.all(busy);
      throwFailure();
    },
    async close() {
      await Promise.all(busy);
    },
  };
}

/**
 * Lets no two works of a load write at once, and rests between them: a load takes no more than one of the server's
 * processors, and leaves the others to those who look something up.
 */
export function createInTurn(): InTurn {
  let lastTurn: Promise<unknown> = Promise.resolve();
  return (work) => {
    let beganAt = 0;
    const turn = lastTurn.then(() => {
      beganAt = performance.now();
      return work();
    });
    const rest = () => wait((performance.now() - beganAt) * REST_SHARE);
    lastTurn = turn.then(rest, rest);
    return turn;
  };
}
