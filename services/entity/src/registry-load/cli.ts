// First, because the heap already grows while the other modules are loaded.
import "./sparing-heap.ts";

import { hostname, userInfo } from "node:os";
import { basename } from "node:path";
import { ConfigError } from "@vvs/config";
import { createLogger } from "@vvs/logging";
import { connectMongo, databaseClock, environmentDatabases, mongoOptions } from "@vvs/mongo";
import { printPlan } from "../asking-plan/print-plan.ts";
import { loadDownloadConfig, loadRegistryConfig } from "../config.ts";
import { type Collections, collectionsOf, LOAD_KINDS } from "../model/documents.ts";
import { newestLoad } from "../model/exclusions.ts";
import { verifySnapshots } from "../model/verify-snapshots.ts";
import { findLoad } from "./change-log.ts";
import { parseCommand, type RegistryCommand, UsageError } from "./command-line.ts";
import { downloadFile, type WantedFile } from "./files/download.ts";
import { RegistryFileError } from "./files/errors.ts";
import { createProgressDisplay } from "./files/progress-display.ts";
import { loadExclusions } from "./load-exclusions.ts";
import { loadExtract } from "./load-extract.ts";
import type { LoadOptions } from "./load-log.ts";
import { printChanges, printLoads, printQuarantine, printReport, printWithdrawal } from "./load-reports.ts";
import { lowerPriority } from "./low-priority.ts";
import { refresh } from "./refresh.ts";
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
  if (command.name === "download") return print(await downloadTo(command.directory, command.wanted));
  const config = loadRegistryConfig();
  const logger = createLogger({ service: "registry", level: "warn" });
  const stopping = AbortSignal.abort(); // a command does not wait for a database that is unavailable
  const client = await connectMongo({ ...mongoOptions(config), service: "registry", logger, stopping });
  try {
    const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "entity");
    const collections = collectionsOf(databases[command.environment]);
    const now = await databaseClock({ client, stopping });
    const target = { client, collections, now, onWait: printWaiting };
    if (command.name === "load") await load(target, command);
    else if (command.name === "refresh") await refreshFiles(target, command);
    else if (command.name === "withdraw") await withdraw(target, command);
    else if (command.name === "plan") await printPlan(collections, { ...command, now: now(), print });
    else if (command.name === "loads") await printLoads(collections, print);
    else if (command.name === "changes") await printChanges(collections, command.load, print);
    else if (command.name === "quarantine") await printQuarantine(collections, command.load, print);
    else await verify(collections, command.entity);
  } finally {
    await client.close();
  }
}

type Target = Pick<LoadOptions, "client" | "collections" | "now" | "onWait">;

async function load(target: Target, files: Extract<RegistryCommand, { name: "load" }>): Promise<void> {
  lowerPriority(); // look-ups come first
  for (const kind of LOAD_KINDS) {
    const path = files[kind];
    if (path) await loadFile(target, kind, path, files.acceptFewer);
  }
}

async function loadFile(target: Target, kind: WantedFile["kind"], path: string, acceptFewer: boolean): Promise<void> {
  const loaders = { registry: loadExtract, exclusions: loadExclusions };
  const { onProgress, end } = createProgressDisplay({ screen: process.stderr, title: basename(path), now: target.now });
  const report = await loaders[kind]({ ...target, path, acceptFewer, onProgress }).finally(end);
  printReport(kind, report, print);
}

async function refreshFiles(target: Target, command: Extract<RegistryCommand, { name: "refresh" }>): Promise<void> {
  const { kinds, directory, acceptFewer } = command;
  lowerPriority();
  process.exitCode = await refresh({
    kinds,
    now: target.now(),
    newestFile: (kind) => newestLoad(target.collections, kind),
    download: (wanted) => downloadTo(directory, wanted),
    load: (kind, path) => loadFile(target, kind, path, acceptFewer),
    print,
    printError: (line) => console.error(line),
  });
}

async function withdraw(target: Target, command: Extract<RegistryCommand, { name: "withdraw" }>): Promise<void> {
  lowerPriority();
  const { _id: loadId } = await findLoad(target.collections, command.load);
  const by = `${userInfo().username}@${hostname()}`;
  printWithdrawal(await withdrawLoad({ ...target, loadId, by, reason: command.reason }), print);
}

function printWaiting({ file_name, host, pid }: { file_name: string; host: string; pid: number }): void {
  console.error(`Waiting for the load of ${file_name} (${host}, pid ${pid})`);
}

async function downloadTo(directory: string, wanted: WantedFile): Promise<string> {
  const { SAM_GOV_API_KEY: apiKey, SAM_GOV_BASE_URL: baseUrl } = loadDownloadConfig();
  const display = createProgressDisplay({ screen: process.stderr, title: "SAM.gov", now: localNow });
  const onBytes = (done: number, total: number | undefined) =>
    display.onProgress({ phase: "downloading", done, total: total ?? 0 });
  return downloadFile({ baseUrl, apiKey, wanted, directory, onBytes }).finally(display.end);
}

async function verify(collections: Collections, entityId: string | undefined): Promise<void> {
  const { entities, faults } = await verifySnapshots(collections, entityId, (id, fault) =>
    console.error(`${id}: ${fault}`),
  );
  print(`${entities} chains checked, ${faults} broken`);
  if (faults > 0 || (entityId && entities === 0)) process.exitCode = 1;
}
