import { AsyncLocalStorage } from "node:async_hooks";
import type { Ticket } from "./fair-queue.ts";

/** The seat of a call that has begun. Parts of it may wait outside at the same time. */
export interface Seat {
  readonly ticket: Ticket;
  /** The queue that gave it. */
  readonly queue: object;
  /** Number of parts of the call that wait outside. */
  waits: number;
  /** Resolves when the call holds its seat again; absent while it holds it. */
  back?: Promise<void> | undefined;
}

const current = new AsyncLocalStorage<Seat | undefined>();

/** Runs a call in its seat. */
export function inSeat<T>(seat: Seat, work: () => T): T {
  return current.run(seat, work);
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
 * Waits for something outside this process, such as a provider or another service. The current call gives its seat back
 * meanwhile, and goes on before calls that have not begun. Errors: those of `wait`.
 */
export async function outside<T>(wait: () => Promise<T>): Promise<T> {
  const seat = current.getStore();
  if (!seat) return wait();
  if (seat.waits++ === 0 && !seat.back) seat.ticket.pause();
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
