import { text } from "node:stream/consumers";
import { createLogger } from "@vvs/logging";
import { connectMongo, databaseClock, mongoOptions } from "@vvs/mongo";
import { loadAdminConfig } from "../config.ts";
import { createAccountDomain } from "../domain.ts";
import { parseCommandLine, runCommand, usage } from "./command-line.ts";
import { explain, inLines } from "./texts.ts";

/** The operator's command. It writes to the database, by the same rules as the service, and is audited. */
async function main(args: readonly string[]): Promise<void> {
  const commandLine = parseCommandLine(args);
  if (commandLine === "help") return print(usage());
  const config = loadAdminConfig();
  const stopping = AbortSignal.abort(); // a command does not wait for an unavailable database
  const logger = createLogger({ service: "admin", level: "silent" });
  const client = await connectMongo({ ...mongoOptions(config), service: "admin", logger, stopping });
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

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
});
