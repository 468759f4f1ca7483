import { AsyncLocalStorage } from "node:async_hooks";
import type { Ticket } from "./fair-queue.ts";

/** The seat of a call that has begun. */
export interface Seat {
  readonly ticket: Ticket;
  /** The queue that gave it. */
  readonly queue: object;
  /** Number of parts of the call that have begun and not ended: 1, or more inside `inParts`. */
  parts: number;
  /** Number of waits outside. The call holds its seat while a part doesn't wait. */
  waits: number;
  /** Resolves when the call holds its seat again; absent while it doesn't ask for it. */
  back?: Promise<void> | undefined;
}

const current = new AsyncLocalStorage<Seat | undefined>();

/** Runs a call in its seat. */
export function inSeat<T>(place: Pick<Seat, "ticket" | "queue">, work: () => T): T {
  return current.run({ ...place, parts: 1, waits: 0 }, work);
}

/** Returns the queue in which the current call has a seat, if it has one. */
export function seatedIn(): object | undefined {
  return current.getStore()?.queue;
}

/** Runs work that several calls wait for, or that outlives the call, without the seat of the call that starts it. */
export function seatless<T>(work: () => T): T {
  return current.run(undefined, work);
}

/**
 * Waits for something outside this process, such as a provider or another service. Where every part of the current call waits,
 * the call gives its seat back, and goes on before calls that have not begun. Errors: those of `wait`.
 */
export async function outside<T>(wait: () => Promise<T>): Promise<T> {
  const seat = current.getStore();
  if (!seat) return wait();
  seat.waits++;
  leaveIfAllWait(seat);
  try {
    return await seatless(wait);
  } finally {
    seat.waits--;
    if (!seat.back) {
      const back = Promise.withResolvers<void>();
      seat.back = back.promise;
      // Calls back immediately where a seat is free.
      seat.ticket.resume(() => {
        seat.back = undefined;
        back.resolve();
      });
    }
    await seat.back;
  }
}

/**
 * Runs parts of the current call at the same time, like `Promise.all`. Parts that wait outside, in a call of which no other part
 * runs, leave its seat to others. Errors: that of the first part that fails; the others go on.
 */
export async function inParts<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
  const seat = current.getStore();
  if (!seat || works.length < 2) return Promise.all(works.map((work) => work()));
  seat.parts += works.length - 1;
  let open = works.length;
  let hasFailed = false;
  const run = async (work: () => Promise<T>) => {
    // The caller goes on as the part that ends the wait for all.
    let isCaller = false;
    try {
      const result = await work();
      isCaller = --open === 0;
      return result;
    } catch (error) {
      isCaller = !hasFailed;
      hasFailed = true;
      throw error;
    } finally {
      if (!isCaller) {
        seat.parts--;
        leaveIfAllWait(seat);
      }
    }
  };
  return Promise.all(works.map(run));
}

function leaveIfAllWait({ ticket, parts, waits }: Seat): void {
  if (waits >= parts) ticket.pause();
}
