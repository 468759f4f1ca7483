import type { ChangeStreamDocument, Db } from "mongodb";
import { within } from "../within.ts";

/** How long MongoDB waits for a change before it answers that there is none. */
const AWAIT_MS = 250;
/** After this time without an answer it is unknown what changed: an election, a broken network. */
const STALL_MS = 5_000;

export type ChangeWatch = ReturnType<typeof watchChanges>;

/**
 * Reports each change to the collections, one after the other, and each moment at which none was pending. Ends by itself
 * when changes could be missed.
 */
export function watchChanges(options: {
  db: Db;
  collections: readonly string[];
  onChange: (change: ChangeStreamDocument) => Promise<void>;
  onCaughtUp: () => void;
}) {
  const { db, collections, onChange, onCaughtUp } = options;
  const opened = Promise.withResolvers<void>();
  let stopped = false;

  async function run(): Promise<void> {
    // With the changes that end a stream: one that ended by itself looks like one without changes.
    const endings = { operationType: { $in: ["invalidate", "dropDatabase"] } };
    const stream = db.watch([{ $match: { $or: [{ "ns.coll": { $in: collections } }, endings] } }], {
      maxAwaitTimeMS: AWAIT_MS,
    });
    try {
      while (!stopped) {
        const change = await beforeStall(stream.tryNext());
        opened.resolve();
        if (stopped) return;
        if (change) await beforeStall(onChange(change));
        else onCaughtUp();
      }
    } finally {
      void stream.close().catch(() => undefined); // it holds nothing that is still needed
    }
  }

  const ended = run();
  ended.catch(opened.reject);
  return {
    /** Resolves when every later change will be reported. Errors: as `ended`. */
    opened: opened.promise,
    /** Resolves when the watch was stopped. Errors: why changes could be missed. */
    ended,
    stop() {
      stopped = true;
    },
  };
}

function beforeStall<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined); // it may fail after the stall
  return within(STALL_MS, `MongoDB gave no answer about changes for ${STALL_MS} ms`, answer);
}
