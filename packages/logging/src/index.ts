import { isSpanContextValid, trace } from "@opentelemetry/api";
import { type DestinationStream, destination, type Logger, pino } from "pino";
import { describeError } from "./describe-error.ts";

export type { Logger };

/**
 * JSON logs, one wide line per unit of work, with the ids of the trace it belongs to. Callers log ids and outcomes,
 * never bodies, secrets or TINs.
 */
export function createLogger(options: {
  service: string;
  level: string;
  /** Takes each line; standard output where absent. */
  destination?: DestinationStream;
}): Logger {
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => describeError(error) },
    mixin: traceIds,
  };
  if (options.destination) return pino(settings, options.destination);
  standardOutput ??= openStandardOutput();
  return pino(settings, standardOutput);
}

/** Lines wait so long for others, as each write wakes the reader; a busy service then spends little on them. */
const GATHER_MS = 10;
const GATHER_BYTES = 8_192;

/** One for the process, however many loggers it has: their lines keep their order. */
let standardOutput: ReturnType<typeof openStandardOutput> | undefined;

/**
 * Standard output, written by this thread: a line that is on its way to another one at exit is lost or comes after later
 * ones. What has been gathered is written before the process ends, and a fatal line at once.
 */
function openStandardOutput(): DestinationStream & { flushSync(): void } {
  const output = destination({ dest: 1, sync: true, minLength: GATHER_BYTES });
  const flushSync = () => output.flushSync();
  const flush = () => {
    isWaiting = false;
    output.flush();
  };
  let isWaiting = false;
  process.on("exit", flushSync);
  return {
    write(line) {
      output.write(line);
      if (!isWaiting) setTimeout(flush, GATHER_MS).unref();
      isWaiting = true;
    },
    flushSync,
  };
}

function traceIds(): Record<string, string> {
  const context = trace.getActiveSpan()?.spanContext();
  return context && isSpanContextValid(context) ? { trace_id: context.traceId, span_id: context.spanId } : {};
}
