import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Logger } from "@vvs/logging";
import type { Environment } from "@vvs/tenant";
import type { FoundNames, IndexQuery, OwnNames, SearchMessage, ThreadData, ThreadMessage } from "./messages.ts";
import { observeIndex } from "./metrics.ts";

export interface IndexAnswer extends FoundNames {
  /** Milliseconds since 1970 until which the index misses nothing; 0 where unknown. */
  readonly completeUntil: number;
}

/** The name index in its thread, and the next one while that is built. */
export interface HostedIndex {
  /** Undefined while there is no index: it is being built, or its thread ended. */
  search(query: IndexQuery): Promise<IndexAnswer | undefined>;
  /** Number of indexes that were in use so far. */
  readonly generation: number;
  /** Waits until there is an index, at most `ms` milliseconds, or until the signal aborts. Returns whether there is one. */
  whenReady(ms: number, stopping: AbortSignal): Promise<boolean>;
  /** Builds a new index, which then replaces this one. */
  renew(): void;
  close(): Promise<void>;
}

interface Generation {
  readonly worker: Worker;
  readonly completeUntil: Record<Environment, number>;
  readonly ownNames: Record<Environment, OwnNames>;
  names: number;
  /** What resolves each search in progress, by its number. */
  readonly searches: Map<number, (answer: FoundNames | undefined) => void>;
}

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
const NONE: OwnNames = { total: 0, largest: 0 };
/** After this time MongoDB answers instead. */
const SEARCH_TIMEOUT_MS = 1_000;
/** A search allocates little, and while an index is built there are two threads. */
const YOUNG_GENERATION_MB = 12;

export function hostMatchIndex(options: {
  thread: Omit<ThreadData, "isRenewal">;
  logger: Logger;
  /** The database's clock. */
  now: () => Date;
}): HostedIndex {
  const { thread, logger, now } = options;
  let current: Generation | undefined;
  let next: Generation | undefined;
  let retryMs = FIRST_RETRY_MS;
  let retry: NodeJS.Timeout | undefined;
  let generation = 0;
  let number = 0;
  let isClosed = false;
  const first = Promise.withResolvers<void>();

  const renew = () => {
    if (isClosed || next) return;
    clearTimeout(retry);
    const started = start({ ...thread, isRenewal: current !== undefined });
    next = started;
    started.worker.on("message", (message: ThreadMessage) => onMessage(started, message));
    started.worker.on("error", (err) => logger.error({ err }, "the name index failed; MongoDB answers meanwhile"));
    started.worker.on("exit", () => onExit(started));
  };
  const onMessage = (from: Generation, message: ThreadMessage) => {
    switch (message.kind) {
      case "ready": {
        const { names, seconds } = message;
        const previous = current;
        current = from;
        from.names = names;
        next = undefined;
        generation++;
        first.resolve();
        retryMs = FIRST_RETRY_MS;
        void previous?.worker.terminate();
        logger.info({ names, seconds: Math.round(seconds * 10) / 10, generation }, "the name index is ready");
        return;
      }
      case "found":
        return answer(from, message.number, message.result);
      case "refused":
        logger.error({ err: message.error }, "a search in the name index failed");
        return answer(from, message.number, undefined);
      case "position":
        from.completeUntil[message.environment] = message.completeUntil;
        from.ownNames[message.environment] = message.ownNames;
        return;
      case "full":
        logger.info("the name index is rebuilt after many changes");
        return renew();
      case "away":
        logger.error({ err: message.error, environment: message.environment }, "changes of names can't be followed");
    }
  };
  const onExit = (ended: Generation) => {
    for (const number of [...ended.searches.keys()]) answer(ended, number, undefined);
    const wasUsed = ended === current || ended === next;
    if (ended === current) current = undefined;
    if (ended === next) next = undefined;
    if (isClosed || !wasUsed) return;
    retry = setTimeout(renew, retryMs).unref();
    retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
  };
  const observed = () => ({
    names: current?.names ?? 0,
    completeUntil: current?.completeUntil,
    ownNames: current?.ownNames,
  });
  const stopObserving = observeIndex(observed, now);
  renew();
  return {
    get generation() {
      return generation;
    },
    renew,
    async whenReady(ms, stopping) {
      const bound = wait(ms, undefined, { signal: stopping, ref: false }).catch(() => undefined);
      await Promise.race([first.promise, bound]);
      return generation > 0;
    },
    async search(query) {
      const asked = current;
      if (!asked) return undefined;
      const message: SearchMessage = { number: ++number, ...query };
      const result = await new Promise<FoundNames | undefined>((resolve) => {
        const timeout = setTimeout(() => answer(asked, message.number, undefined), SEARCH_TIMEOUT_MS);
        asked.searches.set(message.number, (found) => {
          clearTimeout(timeout);
          resolve(found);
        });
        asked.worker.postMessage(message);
      });
      return result && { ...result, completeUntil: asked.completeUntil[query.environment] };
    },
    async close() {
      isClosed = true;
      stopObserving();
      clearTimeout(retry);
      await Promise.all([current, next].map((each) => each?.worker.terminate()));
    },
  };
}

function start(workerData: ThreadData): Generation {
  const worker = new Worker(new URL("./thread.ts", import.meta.url), {
    workerData,
    // Without the process's options, which start telemetry.
    execArgv: [],
    env: {},
    name: "match-index",
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  return {
    worker,
    completeUntil: { live: 0, sandbox: 0 },
    ownNames: { live: NONE, sandbox: NONE },
    names: 0,
    searches: new Map(),
  };
}

function answer({ searches }: Generation, number: number, result: FoundNames | undefined): void {
  searches.get(number)?.(result);
  searches.delete(number);
}
