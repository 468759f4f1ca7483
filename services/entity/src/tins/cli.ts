import { ConfigError } from "@vvs/config";
import { createLogger } from "@vvs/logging";
import { connectMongo, environmentDatabases, mongoOptions } from "@vvs/mongo";
import { environments } from "@vvs/tenant";
import { loadTinsConfig } from "../config.ts";
import { collectionsOf } from "../model/documents.ts";
import { createFingerprintKeys } from "./tin-fingerprints.ts";
import { type RotationReport, rotateTins } from "./tin-rotation.ts";
import { createTinVault } from "./tins.ts";

const USAGE = `Usage:
  npm run tins -- rotate
      seals and hashes all stored TINs of both environments with the first keys of TIN_KEYS and TIN_HASH_KEYS, while the
      service is running; continues where it was stopped. Once nothing is left, the other keys can be removed.
      Keep those of TIN_KEYS until no job needs them (docs/operations.md, TINs of jobs)`;

const BATCH_SIZE = 200;

/** Says how to use the command. */
class UsageError extends Error {}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const isForOperator = error instanceof ConfigError || error instanceof UsageError;
  console.error(isForOperator ? error.message : error);
  process.exitCode = 1;
});

async function main(args: string[]): Promise<void> {
  if (args.length !== 1 || args[0] !== "rotate") throw new UsageError(USAGE);
  const config = loadTinsConfig();
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const logger = createLogger({ service: "tins", level: "warn" });
  const once = AbortSignal.abort();
  const client = await connectMongo({ ...mongoOptions(config), service: "tins", logger, stopping: once });
  try {
    const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "entity");
    const collections = { live: collectionsOf(databases.live), sandbox: collectionsOf(databases.sandbox) };
    const sealingKeys = config.TIN_KEYS;
    const fingerprintKeys = createFingerprintKeys({ collections, sealingKeys });
    const tins = createTinVault({ sealingKeys, hashKeys: config.TIN_HASH_KEYS, fingerprintKeys });
    let left = 0;
    for (const environment of environments) {
      const report = await rotateTins({
        collections: collections[environment],
        environment,
        tins,
        sealingKeys,
        batchSize: BATCH_SIZE,
        stopping: stop.signal,
        onFault: (collection, id, fault) => console.error(`${environment} ${collection} ${id}: ${fault}`),
      });
      left += print(environment, report);
    }
    if (left > 0) process.exitCode = 1;
    console.log(
      left === 0
        ? "Everything that entity stores uses the newest keys: the others of TIN_HASH_KEYS can be removed, and those of TIN_KEYS once no job needs them (docs/operations.md, TINs of jobs)."
        : "Something is left: keep the other keys, and run this again.",
    );
  } finally {
    await client.close();
  }
}

/** Prints the result in an environment; returns how many documents are left. */
function print(environment: string, report: RotationReport): number {
  const names: Record<keyof RotationReport, string> = {
    fingerprintKeys: "fingerprint keys",
    carried: "carried TINs",
    remembered: "remembered TINs",
    contents: "hashes of contents",
  };
  let left = 0;
  for (const [part, name] of Object.entries(names)) {
    const count = report[part as keyof RotationReport];
    left += count.left;
    console.log(`${environment} ${name}: ${count.renewed} renewed, ${count.left} left`);
  }
  return left;
}
