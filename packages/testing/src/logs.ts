import { createLogger, type Logger } from "@vvs/logging";

/** One parsed log line. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Drops its lines. */
export const silentLogger = createLogger({ service: "test", level: "silent" });

/** Returns a logger and the lines that it has written so far. */
export function captureLogs(level = "debug"): { logger: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) };
  return { logger: createLogger({ service: "test", level, destination }), lines };
}
