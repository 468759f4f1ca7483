import { setTimeout as wait } from "node:timers/promises";
import type { ClientSession, MongoClient } from "mongodb";

/** After a write the server is left to others for this share of the time that it took. */
const REST_SHARE = 0.25;

/**
 * Works on several things at once, each in a session of its own, so that one is prepared while another is written. No
 * two write at once, and between them is a rest: a load takes no more than one of the server's processors, and leaves
 * the others to those who look something up.
 */
export interface Lanes {
  readonly sessions: readonly ClientSession[];
  /** Writes, in turn. */
  readonly inTurn: InTurn;
  /** Begins once a lane is free. Errors: those of work that was begun before. */
  run(work: (session: ClientSession) => Promise<void>): Promise<void>;
  /** Waits for all that was begun. Errors: those of that work. */
  finish(): Promise<void>;
  /** Waits for what is under way, whatever comes of it, and ends the sessions. */
  close(): Promise<void>;
}

/** Runs work, and a rest, as soon as all that was handed in before has ended, however it ended. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function createLanes(client: MongoClient, count: number): Lanes {
  const sessions = Array.from({ length: count }, () => client.startSession());
  const free = [...sessions];
  const busy = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  let lastTurn: Promise<unknown> = Promise.resolve();
  const throwFailure = () => {
    if (failure) throw failure.error;
  };
  return {
    sessions,
    inTurn(work) {
      let beganAt = 0;
      const turn = lastTurn.then(() => {
        beganAt = performance.now();
        return work();
      });
      const rest = () => wait((performance.now() - beganAt) * REST_SHARE);
      lastTurn = turn.then(rest, rest);
      return turn;
    },
    async run(work) {
      while (free.length === 0) await Promise.race(busy);
      throwFailure();
      const session = free.pop()!;
      const running = work(session)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => {
          busy.delete(running);
          free.push(session);
        });
      busy.add(running);
    },
    async finish() {
      await Promise.all(busy);
      throwFailure();
    },
    async close() {
      await Promise.all(busy);
      await Promise.all(sessions.map((session) => session.endSession()));
    },
  };
}
