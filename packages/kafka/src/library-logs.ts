import type { Logger } from "@vvs/logging";
import type { LogEntry, logLevel } from "kafkajs";
import kafkajs from "kafkajs";

/** What these report reaches us anyway, as a rejection or an event, and is logged where it is handled. */
const HANDLED = ["Connection", "BrokerPool", "Cluster", "Producer", "Consumer", "Runner"];

/** Least severe level the client library should report. */
export function libraryLogLevel(logger: Logger): logLevel {
  if (logger.isLevelEnabled("trace")) return kafkajs.logLevel.DEBUG;
  return logger.isLevelEnabled("debug") ? kafkajs.logLevel.INFO : kafkajs.logLevel.ERROR;
}

/**
 * Hands the client library's log lines to our logger. It reports ordinary rebalances and each failed reconnection as
 * errors; those are for debugging. What nobody else would tell becomes a warning.
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
