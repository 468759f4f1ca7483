import { parseArgs } from "node:util";
import { ConfigError } from "@vvs/config";
import { createLogger } from "@vvs/logging";
import { connectMongo, databaseClock, environmentDatabases, mongoOptions } from "@vvs/mongo";
import { isDay } from "@vvs/registration";
import { type Environment, environments } from "@vvs/tenant";
import { loadEvidenceConfig, s3Options } from "./config.ts";
import { createEvidenceBodies } from "./evidence/bodies.ts";
import { createS3Objects } from "./evidence/s3-objects.ts";
import { verifyEvidence } from "./evidence/verify.ts";
import { collectionsOf } from "./store.ts";

const USAGE = `Usage:
  npm run evidence -- verify [--environment live|sandbox] [--since YYYY-MM-DD]
      recomputes the hashes of all evidence, and lists each record whose content differs or is missing`;

/** A mistake in the command line; its message is printed for the operator. */
class UsageError extends Error {}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof ConfigError || error instanceof UsageError ? error.message : error);
  process.exitCode = 1;
});

async function main(args: string[]): Promise<void> {
  const { environment, since } = parse(args);
  const config = loadEvidenceConfig();
  const logger = createLogger({ service: "evidence", level: "warn" });
  const stopping = AbortSignal.abort(); // fail immediately where the database is unavailable
  const s3 = s3Options(config);
  const objects = s3 && (await createS3Objects(s3));
  const client = await connectMongo({ ...mongoOptions(config), service: "evidence", logger, stopping });
  try {
    const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "verification");
    const now = await databaseClock({ client, stopping });
    const { records, faults } = await verifyEvidence({
      evidence: collectionsOf(databases[environment]).evidence,
      bodies: createEvidenceBodies({
        db: databases[environment],
        store: "mongodb",
        keyPrefix: "",
        objects,
        now,
      }),
      since,
      onFault: (id, fault) => console.error(`${id}: ${fault}`),
    });
    console.log(`${records} records checked, ${faults} at fault`);
    if (faults > 0) process.exitCode = 1;
  } finally {
    await client.close();
    objects?.close();
  }
}

function parse(args: string[]): { environment: Environment; since: Date | undefined } {
  const options = { environment: { type: "string", default: "live" }, since: { type: "string" } } as const;
  const { positionals, values } = (() => {
    try {
      return parseArgs({ args, options, allowPositionals: true });
    } catch (cause) {
      throw new UsageError(USAGE, { cause });
    }
  })();
  const environment = environments.find((one) => one === values.environment);
  const { since } = values;
  const isSince = since === undefined || isDay(since);
  if (positionals.join() !== "verify" || !environment || !isSince) throw new UsageError(USAGE);
  return { environment, since: since === undefined ? undefined : new Date(since) };
}
