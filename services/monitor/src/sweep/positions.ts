import type { Db } from "mongodb";
import type { Frequency } from "../model/frequency.ts";
import { type SweepPosition, startPosition } from "../model/position.ts";
import { collections } from "../store.ts";

/** The positions by frequency; without those of which nothing was swept yet. */
export type Positions = ReadonlyMap<Frequency, SweepPosition>;

export type PositionStore = ReturnType<typeof createPositionStore>;

/** How long positions that are shown may be old, in milliseconds. */
const SHOWN_FOR_MS = 1_000;

/** The stored positions of one environment. */
export function createPositionStore(db: Db) {
  const { sweepPositions } = collections(db);

  const readAll = async (): Promise<Positions> => {
    const stored = await sweepPositions.find({}).toArray();
    return new Map(stored.map((position) => [position._id, position]));
  };

  return {
    readAll,

    /** Stores the first position of a frequency, if it has none. */
    async start(frequency: Frequency, at: Date): Promise<void> {
      const { _id, ...first } = startPosition(frequency, at);
      await sweepPositions.updateOne({ _id }, { $setOnInsert: first }, { upsert: true });
    },

    /** Replaces a position if it is still the one that was read. Returns false if another replica has moved it. */
    async move(seen: SweepPosition, next: SweepPosition): Promise<boolean> {
      const { _id, swept_to, confirmed_to } = seen;
      return (await sweepPositions.replaceOne({ _id, swept_to, confirmed_to }, next)).matchedCount === 1;
    },
  };
}

/**
 * Creates the reader of positions for what is shown and for changes by callers: many calls share a read. Read the positions
 * before the monitor: with newer ones a check would count as confirmed that found it different since. Errors: the database's.
 */
export function createReadPositions(store: Pick<PositionStore, "readAll">): () => Promise<Positions> {
  let read: { readonly at: number; readonly positions: Promise<Positions> } | undefined;
  return () => {
    if (read && performance.now() - read.at < SHOWN_FOR_MS) return read.positions;
    const positions = store.readAll();
    const reading = { at: performance.now(), positions };
    read = reading;
    positions.catch(() => {
      if (read === reading) read = undefined;
    });
    return positions;
  };
}
