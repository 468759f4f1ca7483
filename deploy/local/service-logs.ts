import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";

/** Opens a service's log file: one JSON object per line, unchanged, kept when the service restarts. */
export function createLogFile(path: string) {
  const file = openSync(path, "w", 0o600);
  return {
    write: (line: string): void => void writeSync(file, `${line}\n`),
    close: (): void => closeSync(file),
  };
}

/** Returns the last lines of a log file; none if it was removed. */
export function lastLines(path: string, count: number): string[] {
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n").slice(-count) : [];
}

const COLORS: Record<string, string> = {
  debug: "\x1b[2m",
  trace: "\x1b[2m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
  fatal: "\x1b[31m",
};
/** Fields that are shown at the beginning of the line, or not useful at a terminal. */
const HIDDEN = new Set(["level", "time", "service", "msg", "err", "trace_id", "span_id"]);

/** Formats a log line for reading: time, service, message, fields. A line that is not JSON stays unchanged. */
export function readableLine(service: string, line: string, colors: boolean): string {
  const name = service.padEnd(18);
  const entry = parse(line);
  if (!entry) return `${name} ${line}`;
  const fields = Object.entries(entry)
    .filter(([key]) => !HIDDEN.has(key))
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const error = (entry.err as { message?: string } | undefined)?.message;
  const time = String(entry.time ?? "").slice(11, 23);
  const level = String(entry.level ?? "info");
  const text = [time, name, level.padEnd(5), entry.msg, ...fields, error && `err=${error}`].filter(Boolean).join(" ");
  const color = colors ? COLORS[level] : undefined;
  return color ? `${color}${text}\x1b[0m` : text;
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
