import type { ChangeStreamDocument, Db } from "mongodb";

export interface ChangeWatch {
  /** Settles once every later change will be told. Errors: as `ended`. */
  readonly opened: Promise<void>;
  /** Resolves when it was stopped. Errors: why no more changes can be told. */
  readonly ended: Promise<void>;
  stop(): void;
}

/** How long MongoDB holds a question for changes before it says that there are none. */
const AWAIT_MS = 250;
/** An answer that takes longer means that nobody knows what changed: an election, a broken network. */
const STALL_MS = 5_000;

/**
 * Tells of each change to the collections, one after the other, and of each moment at which none was pending. It ends
 * by itself when that can no longer be known.
 */
export function watchChanges(options: {
  db: Db;
  collections: readonly string[];
  onChange: (change: ChangeStreamDocument) => Promise<void>;
  onCaughtUp: () => void;
}): ChangeWatch {
  const { db, collections, onChange, onCaughtUp } = options;
  const opened = Promise.withResolvers<void>();
  let stopped = false;

  async function run(): Promise<void> {
    // Those that end the stream come too: a stream that ended by itself looks like one without changes.
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
      void stream.close().catch(() => undefined); // what it held is of no use any more
    }
  }

  const ended = run();
  ended.catch(opened.reject);
  return {
    opened: opened.promise,
    ended,
    stop() {
      stopped = true;
    },
  };
}

async function beforeStall<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`MongoDB gave no answer about changes for ${STALL_MS} ms`)), STALL_MS);
  });
  try {
    return await Promise.race([answer, stalled]);
  } finally {
    clearTimeout(timer);
    answer.catch(() => undefined);
  }
}
