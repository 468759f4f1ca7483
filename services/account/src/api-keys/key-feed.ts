import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { ChangeStreamDocument } from "mongodb";
import type { AccountStore } from "../store.ts";
import { type ChangeWatch, watchChanges } from "./change-watch.ts";
import type { KeyRecord, KeyRecords } from "./key-records.ts";
import { createStepQueue, type StepQueue } from "./step-queue.ts";

/** A step of a watch: a key as it is now, the end of the snapshot, or the word that nothing is pending. */
export type FeedStep =
  | { readonly kind: "key"; readonly record: KeyRecord }
  | { readonly kind: "snapshot_done" }
  | { readonly kind: "heartbeat" };

export interface KeyFeed {
  /**
   * All key records, then each change; a heartbeat each second, only while every change is known of. Ends when the
   * signal aborts or the feed closes. Errors: service_unavailable as soon as a change could be missed: begin a new watch.
   */
  watch(signal: AbortSignal): AsyncGenerator<FeedStep>;
  /** Ends all watches, and refuses new ones. */
  close(): Promise<void>;
}

type Watcher = StepQueue<FeedStep>;

/** A little less than a second, so that a tick that comes early does not make it two. */
const HEARTBEAT_MS = 900;
/** Steps held for a gateway that reads too slowly, before it must begin anew. */
const MAX_PENDING = 100_000;

/** One change stream for all gateways, open while there are any. */
export function createKeyFeed(options: {
  store: AccountStore;
  records: KeyRecords;
  logger: Logger;
  /** Told how many watches there are, whenever that changes. */
  onWatchers: (count: number) => void;
}): KeyFeed {
  const { store, records, logger } = options;
  const watchers = new Set<Watcher>();
  let changes: ChangeWatch | undefined;
  const closing = new AbortController();
  let lastHeartbeat = 0;

  function openChanges(): ChangeWatch {
    const opened = watchChanges({
      db: store.db,
      collections: [store.apiKeys.collectionName, store.organizations.collectionName],
      onChange: async (change) => {
        for (const record of await recordsOf(change)) tellAll({ kind: "key", record });
      },
      onCaughtUp: heartbeat,
    });
    opened.ended.catch((error: unknown) => {
      if (changes === opened) changes = undefined;
      logger.error({ err: error, watchers: watchers.size }, "following changes of API keys failed; all watches end");
      endAll(error);
    });
    return opened;
  }

  async function recordsOf(change: ChangeStreamDocument): Promise<KeyRecord[]> {
    if (change.operationType !== "insert" && change.operationType !== "update" && change.operationType !== "replace") {
      // Nothing of ours deletes: it was done by hand, and only a new snapshot tells what is left.
      throw new Error(`a ${change.operationType} can't be told as a change of keys`);
    }
    const id = change.documentKey._id as unknown as string;
    return change.ns.coll === store.apiKeys.collectionName ? records.byKeyId(id) : records.ofOrganization(id);
  }

  function heartbeat(): void {
    if (performance.now() - lastHeartbeat < HEARTBEAT_MS) return;
    lastHeartbeat = performance.now();
    for (const watcher of watchers) if (watcher.size === 0) watcher.push({ kind: "heartbeat" });
  }

  function tellAll(step: FeedStep): void {
    for (const watcher of watchers) watcher.push(step);
  }

  function endAll(cause: unknown): void {
    for (const watcher of watchers) watcher.fail(unavailable(cause));
  }

  function leave(watcher: Watcher): void {
    watchers.delete(watcher);
    options.onWatchers(watchers.size);
    if (watchers.size > 0) return;
    changes?.stop();
    changes = undefined;
  }

  return {
    async *watch(signal) {
      if (closing.signal.aborted) throw unavailable(new Error("the service stops"));
      const ending = AbortSignal.any([signal, closing.signal]);
      const watcher = createStepQueue<FeedStep>(MAX_PENDING);
      watchers.add(watcher);
      options.onWatchers(watchers.size);
      try {
        changes ??= openChanges();
        await changes.opened.catch((error: unknown) => {
          throw unavailable(error);
        });
        for await (const record of records.all()) {
          if (ending.aborted) return;
          yield { kind: "key", record };
        }
        // What changed meanwhile goes first: with the snapshot's end the reader is up to date.
        yield* watcher.take().filter(({ kind }) => kind === "key");
        yield { kind: "snapshot_done" };
        yield* watcher.drain(ending);
      } finally {
        leave(watcher);
      }
    },

    async close() {
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
