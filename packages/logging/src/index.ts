import { isSpanContextValid, trace } from "@opentelemetry/api";
import { type DestinationStream, destination, type Logger, pino } from "pino";
import { describeError } from "./describe-error.ts";

export type { Logger };

/**
 * Creates a logger that writes JSON lines with the ids of the active trace. Callers log one line per unit of work, with
 * ids and outcomes, never with bodies, secrets or TINs.
 */
export function createLogger(options: {
  service: string;
  level: string;
  /** Receives each line; standard output where absent. */
  destination?: DestinationStream;
}): Logger {
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => describeError(error) },
    mixin: traceIds,
    // Pino's own copies each line, even one that gets no ids.
    mixinMergeStrategy: (line: object, ids: object) => (ids === NO_IDS ? line : { ...ids, ...line }),
  };
  if (options.destination) return pino(settings, options.destination);
  standardOutput ??= openStandardOutput();
  return pino(settings, standardOutput);
}

let forward: ((line: string) => void) | undefined;

/** Passes each line that this process writes to standard output on as well, in the context in which it was logged. */
export function forwardLines(to: (line: string) => void): void {
  forward = to;
}

/** Lines are collected for this long, because each write wakes the reader, which costs a busy service much. */
const GATHER_MS = 10;
const GATHER_CHARACTERS = 8_192;

/** Shared by all loggers of the process, so that their lines keep their order. */
let standardOutput: ReturnType<typeof openStandardOutput> | undefined;

/**
 * Opens standard output, written by this thread: with a worker thread, lines could get lost or out of order at exit.
 * Collected lines are written before the process ends, a fatal line immediately.
 */
function openStandardOutput(): DestinationStream & { flushSync(): void } {
  const output = destination({ dest: 1, sync: true });
  // Gathered here, as the destination would count all gathered bytes again with each line.
  let gathered = "";
  let isWaiting = false;
  const flush = () => {
    const lines = gathered;
    gathered = "";
    if (lines) output.write(lines);
  };
  const flushSync = () => {
    flush();
    output.flushSync();
  };
  const onTimer = () => {
    isWaiting = false;
    flush();
  };
  process.on("exit", flushSync);
  return {
    write(line) {
      gathered += line;
      forward?.(line);
      if (!isWaiting) setTimeout(onTimer, GATHER_MS).unref();
      isWaiting = true;
      if (gathered.length >= GATHER_CHARACTERS) flush();
    },
    flushSync,
  };
}

const NO_IDS = {};

function traceIds(): Record<string, string> {
  const context = trace.getActiveSpan()?.spanContext();
  return context && isSpanContextValid(context) ? { trace_id: context.traceId, span_id: context.spanId } : NO_IDS;
}
