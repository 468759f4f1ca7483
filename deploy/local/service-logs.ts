import { createWriteStream } from "node:fs";

/** A service's log as it wrote it, one JSON object a line, kept over restarts of the service. */
export function createLogFile(path: string): { write(line: string): void; close(): void } {
  const stream = createWriteStream(path, { flags: "w", mode: 0o600 });
  return { write: (line) => void stream.write(`${line}\n`), close: () => void stream.end() };
}

const COLORS: Record<string, string> = {
  debug: "\x1b[2m",
  trace: "\x1b[2m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
  fatal: "\x1b[31m",
};
/** Shown in front or of no use to a reader at a terminal. */
const HIDDEN = new Set(["level", "time", "service", "msg", "err", "trace_id", "span_id"]);

/** A log line for people: time, service, message and its fields; a line that is no JSON as it is. */
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
