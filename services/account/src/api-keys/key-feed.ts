import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { ChangeStreamDocument } from "mongodb";
import type { AccountStore } from "../store.ts";
import { type ChangeWatch, changesSince, watchChanges } from "./change-watch.ts";
import type { KeyRecord, KeyRecords } from "./key-records.ts";

/** A step of a watch: the current state of a key, the end of the snapshot, its absence, or that no change is pending. */
export type FeedStep =
  | { readonly case: "key"; readonly value: KeyRecord }
  | { readonly case: "snapshotDone" | "resumed"; readonly value: object }
  | { readonly case: "heartbeat"; readonly value: { readonly position: string } };

export type KeyFeed = ReturnType<typeof createKeyFeed>;

interface Watcher {
  readonly steps: ReadableStream<FeedStep>;
  readonly controller: ReadableStreamDefaultController<FeedStep>;
  hasSnapshot: boolean;
}

/** A little less than a second, so that a tick that comes early does not double the interval. */
const HEARTBEAT_MS = 900;
/** With more changes than this, a watch begins with all key records. */
const MOST_MISSED = 1_000;

/** Feeds all gateways from one change stream, which is open while there are any. */
export function createKeyFeed(options: {
  store: AccountStore;
  records: KeyRecords;
  logger: Logger;
  /** Called with the number of watches whenever it changes. */
  onWatchers: (count: number) => void;
  /** Maximum steps that wait for a gateway that reads too slowly. Beyond it the watch ends. */
  maxPending?: number;
}) {
  const { store, records, logger, maxPending = 100_000 } = options;
  const watchers = new Set<Watcher>();
  let changes: ChangeWatch | undefined;
  const closing = new AbortController();
  let lastHeartbeat = 0;
  const watched = { db: store.db, collections: [store.apiKeys.collectionName, store.organizations.collectionName] };

  function openChanges(): ChangeWatch {
    const opened = watchChanges({
      ...watched,
      onChange: async (change) => {
        for (const value of await recordsOf(change)) {
          for (const watcher of watchers) send(watcher, { case: "key", value });
        }
      },
      onCaughtUp: heartbeat,
    });
    opened.ended.catch((error: unknown) => {
      if (changes === opened) changes = undefined;
      logger.error({ err: error, watchers: watchers.size }, "following changes of API keys failed; all watches end");
      for (const { controller } of watchers) controller.error(unavailable(error));
    });
    return opened;
  }

  async function recordsOf(change: ChangeStreamDocument): Promise<KeyRecord[]> {
    if (change.operationType !== "insert" && change.operationType !== "update" && change.operationType !== "replace") {
      // The product deletes nothing here: someone did it by hand, and only a new snapshot shows what is left.
      throw new Error(`a ${change.operationType} can't be reported as a change of keys`);
    }
    const id = change.documentKey._id as unknown as string;
    const at = change.clusterTime!;
    return change.ns.coll === store.apiKeys.collectionName ? records.byKeyId(id, at) : records.ofOrganization(id, at);
  }

  /** Returns what changed since a position; undefined if that can't be known, so that all key records are needed. */
  async function missedSince(position: string): Promise<KeyRecord[] | undefined> {
    if (position === "") return undefined;
    try {
      const missed: KeyRecord[] = [];
      for (const change of await changesSince({ ...watched, position, most: MOST_MISSED })) {
        missed.push(...(await recordsOf(change)));
      }
      return missed;
    } catch (error) {
      logger.info({ err: error }, "a watch of API keys can't be resumed and begins again");
      return undefined;
    }
  }

  function heartbeat(position: string): void {
    if (performance.now() - lastHeartbeat < HEARTBEAT_MS) return;
    lastHeartbeat = performance.now();
    for (const watcher of watchers) {
      const hasRead = watcher.controller.desiredSize === maxPending;
      if (watcher.hasSnapshot && hasRead) send(watcher, { case: "heartbeat", value: { position } });
    }
  }

  function send({ controller }: Watcher, step: FeedStep): void {
    if (controller.desiredSize! > 0) controller.enqueue(step);
    else controller.error(unavailable(new Error(`a reader left ${maxPending} steps unread`)));
  }

  function join(): Watcher {
    let controller!: Watcher["controller"];
    const start = (own: Watcher["controller"]) => {
      controller = own;
    };
    const steps = new ReadableStream<FeedStep>({ start }, { highWaterMark: maxPending });
    const watcher = { steps, controller, hasSnapshot: false };
    watchers.add(watcher);
    options.onWatchers(watchers.size);
    return watcher;
  }

  function leave(watcher: Watcher): void {
    watchers.delete(watcher);
    options.onWatchers(watchers.size);
    if (watchers.size > 0) return;
    changes?.stop();
    changes = undefined;
  }

  return {
    /**
     * Yields all key records, or only those that changed since the position of an earlier heartbeat, then each change; a
     * heartbeat each second, only while no change can be missed. Ends when the signal aborts or the feed closes. Errors:
     * service_unavailable (a change could be missed: watch again).
     */
    async *watch(signal: AbortSignal, position = ""): AsyncGenerator<FeedStep> {
      if (closing.signal.aborted) throw unavailable(new Error("the service stops"));
      const ending = AbortSignal.any([signal, closing.signal]);
      const watcher = join();
      const { controller, steps } = watcher;
      ending.addEventListener("abort", () => controller.desiredSize !== null && controller.close(), { once: true });
      try {
        changes ??= openChanges();
        await changes.opened.catch((error: unknown) => {
          throw unavailable(error);
        });
        const missed = await missedSince(position);
        if (missed) yield { case: "resumed", value: {} };
        for await (const value of missed ?? records.all()) {
          if (ending.aborted) return;
          yield { case: "key", value };
        }
        if (ending.aborted) return;
        // After the changes that came meanwhile: at the end of the snapshot the reader is up to date.
        if (!missed) send(watcher, { case: "snapshotDone", value: {} });
        watcher.hasSnapshot = true;
        yield* steps;
      } finally {
        leave(watcher);
      }
    },

    /** Ends all watches, and refuses new ones. */
    async close(): Promise<void> {
      const open = changes;
      open?.stop();
      closing.abort();
      await open?.ended.catch(() => undefined);
    },
  };
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError("service_unavailable", { cause, retryAfterSeconds: 1 });
}
