import { Worker } from "node:worker_threads";
import type { Logger } from "@vvs/logging";
import type { Environment } from "@vvs/tenant";
import type { NormalizedName } from "../matching/names/normalize-name.ts";
import type { SearchMessage, ThreadData, ThreadMessage } from "./messages.ts";
import { observeIndex } from "./metrics.ts";
import type { SearchResult } from "./search.ts";

export interface IndexQuery {
  readonly environment: Environment;
  readonly name: NormalizedName;
  readonly organizationId: string;
  /** Hits that are wanted at most. */
  readonly limit: number;
}

export interface IndexAnswer extends SearchResult {
  /** Milliseconds since 1970 until when the index misses nothing; 0 where that is unknown. */
  readonly completeUntil: number;
}

/** The index in its thread, and the next one beside it while that is being built. */
export interface HostedIndex {
  /** Undefined while there is no index: it is being built, or its thread ended. */
  search(query: IndexQuery): Promise<IndexAnswer | undefined>;
  /** How many indexes were put to use so far. */
  readonly generation: number;
  /** Builds a new index from what is stored, and then puts it in the place of this one. */
  renew(): void;
  close(): Promise<void>;
}

interface Generation {
  readonly worker: Worker;
  readonly completeUntil: Record<Environment, number>;
  names: number;
  readonly asked: Map<number, (answer: SearchResult | undefined) => void>;
}

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** So long a search may take: MongoDB answers those that take longer. */
const SEARCH_MS = 1_000;

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

  const renew = () => {
    if (isClosed || next) return;
    clearTimeout(retry);
    const begun = begin({ ...thread, isRenewal: current !== undefined });
    next = begun;
    begun.worker.on("message", (message: ThreadMessage) => onMessage(begun, message));
    begun.worker.on("error", (error) =>
      logger.error({ err: error }, "the index of names failed; MongoDB answers meanwhile"),
    );
    begun.worker.on("exit", () => onExit(begun));
  };
  const onMessage = (from: Generation, message: ThreadMessage) => {
    switch (message.kind) {
      case "ready": {
        const { entities, names, seconds } = message;
        const previous = current;
        current = from;
        from.names = names;
        next = undefined;
        generation++;
        retryMs = FIRST_RETRY_MS;
        void previous?.worker.terminate();
        logger.info(
          { entities, names, seconds: Math.round(seconds * 10) / 10, generation },
          "the index of names is up",
        );
        return;
      }
      case "found":
        return answer(from, message.number, message.result);
      case "refused":
        logger.error({ err: message.error }, "a search in the index of names failed");
        return answer(from, message.number, undefined);
      case "position":
        from.completeUntil[message.environment] = message.completeUntil;
        return;
      case "full":
        logger.info("the index of names is built anew: much has changed");
        return renew();
      case "away":
        logger.error(
          { err: message.error, environment: message.environment },
          "changes of names can't be followed now",
        );
    }
  };
  const onExit = (ended: Generation) => {
    for (const number of [...ended.asked.keys()]) answer(ended, number, undefined);
    const wasUsed = ended === current || ended === next;
    if (ended === current) current = undefined;
    if (ended === next) next = undefined;
    if (isClosed || !wasUsed) return;
    retry = setTimeout(renew, retryMs).unref();
    retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
  };
  const observed = () => ({ names: current?.names ?? 0, completeUntil: current?.completeUntil });
  const stopObserving = observeIndex(observed, now);
  renew();
  return {
    get generation() {
      return generation;
    },
    renew,
    async search(query) {
      const asked = current;
      if (!asked) return undefined;
      const message: SearchMessage = { number: ++number, ...query };
      const result = await new Promise<SearchResult | undefined>((resolve) => {
        const timeout = setTimeout(() => answer(asked, message.number, undefined), SEARCH_MS);
        asked.asked.set(message.number, (found) => {
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

function begin(thread: ThreadData): Generation {
  // Without the process's own options: the thread needs no telemetry of its own.
  const worker = new Worker(new URL("./thread.ts", import.meta.url), {
    workerData: thread,
    execArgv: [],
    env: {},
    name: "match-index",
    // What a search leaves behind is little, and while an index is built there are two such threads.
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  return { worker, completeUntil: { live: 0, sandbox: 0 }, names: 0, asked: new Map() };
}

function answer({ asked }: Generation, number: number, result: SearchResult | undefined): void {
  asked.get(number)?.(result);
  asked.delete(number);
}
