import { text } from "node:stream/consumers";
import { ConfigError } from "@vvs/config";
import { isOutcomeUnknown } from "@vvs/errors";
import { createLogger } from "@vvs/logging";
import { connectMongo, databaseClock, translateMongoError } from "@vvs/mongo";
import { loadAdminConfig } from "../config.ts";
import { createAccountDomain } from "../domain.ts";
import { type CommandLine, parseCommandLine, runCommand, usage } from "./command-line.ts";
import { UsageError } from "./commands.ts";

/** The operator's command. It writes to the database, by the same rules as the service, and is audited. */
async function main(args: readonly string[]): Promise<void> {
  const commandLine = parseCommandLine(args);
  if (commandLine === "help") return print(usage());
  const config = loadAdminConfig();
  const stopping = AbortSignal.abort(); // a command does not wait for an unavailable database
  const logger = createLogger({ service: "admin", level: "silent" });
  const client = await connectMongo({ uri: config.MONGODB_URI, service: "admin", logger, stopping });
  try {
    const now = await databaseClock({ client, stopping });
    const domain = createAccountDomain({
      client,
      prefix: config.MONGODB_DATABASE_PREFIX,
      apiKeyPeppers: config.API_KEY_PEPPERS,
      webhookSecretKeys: config.WEBHOOK_SECRET_KEYS,
      dashboardUrl: config.DASHBOARD_URL,
      signUpOpen: false,
      now,
    });
    const result = await runCommand(domain, commandLine, async () => (await text(process.stdin)).replace(/\r?\n$/, ""));
    print(commandLine.json ? JSON.stringify(result) : inLines(result, commandLine));
    if ("left" in result && result.left !== 0) process.exitCode = 1;
  } finally {
    await client.close();
  }
}

/** Returns a result for people: one line per field, or one line per item of a list. */
function inLines(result: object, { command }: CommandLine): string {
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
  return value instanceof Date ? value.toISOString() : String(value);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Returns what went wrong, for the operator. */
function explain(error: unknown): string {
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

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
});
