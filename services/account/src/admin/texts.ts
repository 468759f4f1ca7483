import { ConfigError } from "@vvs/config";
import { isOutcomeUnknown } from "@vvs/errors";
import { translateMongoError } from "@vvs/mongo";
import type { CommandLine } from "./command-line.ts";
import { UsageError } from "./commands.ts";

/** Returns a result for people: one line per field, or one line per item of a list. */
export function inLines(result: object, { command }: CommandLine): string {
  const [list] = Object.values(result);
  if (Array.isArray(list)) {
    const lines = list.map((item: object) => Object.values(item).map(shown).join("  "));
    return lines.length > 0 ? lines.join("\n") : "There are none.";
  }
  const lines = Object.entries(result).map(([name, value]) => `${name}: ${shown(value)}`);
  return [`${command}: done`, ...lines].join("\n");
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Returns what went wrong, for the operator. */
export function explain(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof ConfigError) return `The configuration can't be used:\n${error.message}`;
  const refusal = translateMongoError(error);
  if (isOutcomeUnknown(refusal))
    return "MongoDB's reply was lost, so it is unknown whether the command took effect. Check before you run it again.";
  if (refusal.code === "service_unavailable") return "MongoDB can't be reached at MONGODB_URI.";
  if (refusal.code === "internal_error") return `The command failed: ${error instanceof Error ? error.message : error}`;
  if (refusal.details.length === 0) return refusal.message;
  return `${refusal.details.map(({ path, message }) => `${path} ${message}`).join("; ")}.`;
}
