import type { Logger } from "@vvs/logging";
import type { LogEntry, logLevel } from "kafkajs";
import kafkajs from "kafkajs";

/** Errors of these parts reach us as rejections or events too, and are logged where they are handled. */
const HANDLED = ["Connection", "BrokerPool", "Cluster", "Producer", "Consumer", "Runner"];

/** Returns the least severe level that the client library should report. */
export function libraryLogLevel(logger: Logger): logLevel {
  if (logger.isLevelEnabled("trace")) return kafkajs.logLevel.DEBUG;
  return logger.isLevelEnabled("debug") ? kafkajs.logLevel.INFO : kafkajs.logLevel.ERROR;
}

/**
 * Passes the client library's log lines to our logger. The library reports ordinary rebalances and each failed
 * reconnection as errors; those become debug lines. Errors that are not logged elsewhere become warnings.
 */
export function bridgeLibraryLogs(logger: Logger): () => (entry: LogEntry) => void {
  return () => (entry) => {
    const { message, timestamp: _, logger: __, ...fields } = entry.log;
    logger[levelOf(entry)]({ kafka: { namespace: entry.namespace, ...fields } }, message);
  };
}

function levelOf(entry: LogEntry): "warn" | "debug" | "trace" {
  if (entry.level === kafkajs.logLevel.DEBUG) return "trace";
  const unheard = entry.level === kafkajs.logLevel.ERROR && !HANDLED.includes(entry.namespace);
  return unheard ? "warn" : "debug";
}
