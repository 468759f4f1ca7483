// First, as the heap grows while the others are loaded.
import "./sparing-heap.ts";

import { hostname, userInfo } from "node:os";
import { basename } from "node:path";
import { ConfigError } from "@vvs/config";
import { createLogger } from "@vvs/logging";
import { connectMongo, databaseClock, environmentDatabases } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import { loadDownloadConfig, loadRegistryConfig } from "../config.ts";
import { type Collections, collectionsOf } from "../model/documents.ts";
import { verifySnapshots } from "../model/verify-snapshots.ts";
import { parseCommand, type RegistryCommand, UsageError } from "./command-line.ts";
import { downloadFile } from "./files/download.ts";
import { RegistryFileError } from "./files/errors.ts";
import { loadExclusions } from "./load-exclusions.ts";
import { loadExtract } from "./load-extract.ts";
import { loadNamed, printChanges, printLoads, printQuarantine, printReport, printWithdrawal } from "./load-reports.ts";
import { lowerPriority } from "./low-priority.ts";
import { createProgressDisplay } from "./progress-display.ts";
import { withdrawLoad } from "./withdraw.ts";

const print = (line: string) => console.log(line);
const localNow = () => new Date();

await main(process.argv.slice(2)).catch((error: unknown) => {
  const isForOperator =
    error instanceof RegistryFileError || error instanceof ConfigError || error instanceof UsageError;
  console.error(isForOperator ? error.message : error);
  process.exitCode = 1;
});

async function main(args: string[]): Promise<void> {
  const command = parseCommand(args, localNow());
  if (command.name === "download") return download(command);
  const config = loadRegistryConfig();
  const logger = createLogger({ service: "registry", level: "warn" });
  const stopping = AbortSignal.abort(); // a command does not wait for a database that is away
  const client = await connectMongo({ uri: config.MONGODB_URI, service: "registry", logger, stopping });
  try {
    const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "entity");
    const collections = collectionsOf(databases[command.environment]);
    if (command.name === "load") await load(client, collections, command, await databaseClock({ client, stopping }));
    else if (command.name === "withdraw") {
      await withdraw(client, collections, command, await databaseClock({ client, stopping }));
    } else if (command.name === "loads") await printLoads(collections, print);
    else if (command.name === "changes") await printChanges(collections, command.load, print);
    else if (command.name === "quarantine") await printQuarantine(collections, command.load, print);
    else await verify(collections, command.entity);
  } finally {
    await client.close();
  }
}

async function load(
  client: MongoClient,
  collections: Collections,
  files: Extract<RegistryCommand, { name: "load" }>,
  now: () => Date,
): Promise<void> {
  // Where processors are few, whoever looks something up comes first.
  lowerPriority();
  const loaders = { registry: loadExtract, exclusions: loadExclusions };
  for (const kind of ["registry", "exclusions"] as const) {
    const path = files[kind];
    if (!path) continue;
    const display = createProgressDisplay({ screen: process.stderr, title: basename(path), now });
    const report = await loaders[kind]({
      client,
      collections,
      path,
      now,
      acceptFewer: files.acceptFewer,
      onProgress: display.onProgress,
      onWait: printWaiting,
    }).finally(display.end);
    printReport(kind, report, print);
  }
}

async function withdraw(
  client: MongoClient,
  collections: Collections,
  { load: named, reason }: Extract<RegistryCommand, { name: "withdraw" }>,
  now: () => Date,
): Promise<void> {
  lowerPriority();
  const { _id: loadId } = await loadNamed(collections, named);
  const by = `${userInfo().username}@${hostname()}`;
  printWithdrawal(await withdrawLoad({ client, collections, loadId, by, reason, now, onWait: printWaiting }), print);
}

function printWaiting({ file_name, host, pid }: { file_name: string; host: string; pid: number }): void {
  console.error(`Waiting for the load of ${file_name} (${host}, pid ${pid})`);
}

async function download({ wanted, directory }: Extract<RegistryCommand, { name: "download" }>): Promise<void> {
  const { SAM_GOV_API_KEY: apiKey, SAM_GOV_BASE_URL: baseUrl } = loadDownloadConfig();
  const display = createProgressDisplay({ screen: process.stderr, title: "SAM.gov", now: localNow });
  const onBytes = (done: number, total: number | undefined) =>
    display.onProgress({ phase: "downloading", done, total: total ?? 0 });
  print(await downloadFile({ baseUrl, apiKey, wanted, directory, onBytes }).finally(display.end));
}

async function verify(collections: Collections, entityId: string | undefined): Promise<void> {
  const { entities, faults } = await verifySnapshots(collections, entityId, (id, fault) =>
    console.error(`${id}: ${fault}`),
  );
  print(`${entities} chains checked, ${faults} broken`);
  if (faults > 0 || (entityId && entities === 0)) process.exitCode = 1;
}
