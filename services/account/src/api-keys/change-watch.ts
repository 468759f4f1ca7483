import { setTimeout as wait } from "node:timers/promises";
import { within } from "@vvs/retry";
import type { ChangeStream, ChangeStreamDocument, Db } from "mongodb";

/**
 * Pause after a request that returned no change, in milliseconds. MongoDB must not hold the request instead: each write to any
 * collection would wake it there.
 */
const PAUSE_MS = 250;
/** After this time without an answer it is unknown what changed: an election, a broken network. */
const STALL_MS = 5_000;

export type ChangeWatch = ReturnType<typeof watchChanges>;

/** Collections of one database whose changes are followed. */
export interface Watched {
  readonly db: Db;
  readonly collections: readonly string[];
}

/**
 * Reports each change to the collections, one after the other, and each moment at which none was pending, with its
 * position. Ends by itself when changes could be missed.
 */
export function watchChanges(
  options: Watched & {
    onChange: (change: ChangeStreamDocument) => Promise<void>;
    onCaughtUp: (position: string) => void;
  },
) {
  const { onChange, onCaughtUp } = options;
  const opened = Promise.withResolvers<void>();
  let stopped = false;

  async function run(): Promise<void> {
    const stream = openStream(options);
    try {
      while (!stopped) {
        const change = await beforeStall(stream.tryNext());
        opened.resolve();
        if (stopped) return;
        if (change) await beforeStall(onChange(change));
        else {
          onCaughtUp(positionOf(stream));
          await wait(PAUSE_MS);
        }
      }
    } finally {
      close(stream);
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

/**
 * Returns the changes between a position and now, at most `most`. Errors: there are more; MongoDB no longer has them, or does
 * not know the position.
 */
export async function changesSince(
  options: Watched & { position: string; most: number },
): Promise<ChangeStreamDocument[]> {
  const stream = openStream(options, options.position);
  const changes: ChangeStreamDocument[] = [];
  try {
    for (;;) {
      const change = await beforeStall(stream.tryNext());
      if (!change) return changes;
      if (changes.length === options.most) throw new Error(`more than ${options.most} changes since the position`);
      changes.push(change);
    }
  } finally {
    close(stream);
  }
}

function openStream({ db, collections }: Watched, position?: string): ChangeStream {
  // With the changes that end a stream: one that ended by itself looks like one without changes.
  const endings = { operationType: { $in: ["invalidate", "dropDatabase"] } };
  return db.watch([{ $match: { $or: [{ "ns.coll": { $in: collections } }, endings] } }], {
    maxAwaitTimeMS: 1,
    ...(position !== undefined && { resumeAfter: { _data: position } }),
  });
}

function close(stream: ChangeStream): void {
  void stream.close().catch(() => undefined); // it holds nothing that is still needed
}

/** Returns MongoDB's token of the last change that was read, or of the moment without one; empty if it has another form. */
function positionOf(stream: ChangeStream): string {
  const { _data } = (stream.resumeToken ?? {}) as { _data?: unknown };
  return typeof _data === "string" ? _data : "";
}

function beforeStall<T>(answer: Promise<T>): Promise<T> {
  return within(STALL_MS, `MongoDB gave no answer about changes for ${STALL_MS} ms`, answer);
}
