import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Demo, removeRunInformation, writeRunInformation } from "./demo.ts";
import { startDetached } from "./detached.ts";
import { localDirectory } from "./local-dir.ts";
import { providerVariables, type StartOptions, startOptions } from "./options.ts";
import { startProduct } from "./product.ts";
import { livingRun, removeRunFile, writeRunFile } from "./run-file.ts";
import { localSecrets } from "./secrets.ts";
import { seedOrganizations } from "./seed.ts";
import { requireFree } from "./servers/free-port.ts";
import { StartError, serverCacheDir, startServers } from "./servers/index.ts";
import { readableLine } from "./service-logs.ts";
import { summary } from "./summary.ts";

const localDir = localDirectory(process.env);
const runFile = join(localDir, "run.json");

/** Prints a line of progress, and sends it to the command that started this run detached while that command listens. */
function log(line: string): void {
  report({ line });
  console.error(line);
}

function report(message: { line: string } | { ready: string }): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Functions that close resources when the run ends, in reverse order. */
const closers: (() => unknown)[] = [];

async function closeAll(): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
}

async function run(options: StartOptions): Promise<void> {
  const running = livingRun(runFile);
  if (running !== undefined)
    throw new StartError(`This checkout is already running (process ${running}). End it with: npm run stop`);
  for (const [port, variable] of [
    [options.apiPort, "API_PORT"],
    [options.dashboardPort, "DASHBOARD_PORT"],
  ] as const) {
    const choice = `stop the program that uses it, or choose another port with ${variable}=….`;
    await requireFree(port, `Port ${port} is in use: ${choice}`);
  }
  if (options.fresh) rmSync(localDir, { recursive: true, force: true });
  mkdirSync(localDir, { recursive: true, mode: 0o700 });
  writeRunFile(runFile);
  closers.push(() => removeRunFile(runFile));

  const servers = await startServers({
    dataDir: join(localDir, "data"),
    cacheDir: serverCacheDir(process.env),
    log,
    env: process.env,
  });
  closers.push(servers.stop);
  const product = await startProduct({
    servers,
    secrets: localSecrets(join(localDir, "secrets.json")),
    providers: providerVariables(process.env),
    prefix: "vvs_",
    topicPrefix: "",
    apiPort: options.apiPort,
    dashboardPort: options.dashboardPort,
    registry: options.registry,
    exclusions: options.exclusions,
    logDir: join(localDir, "log"),
    log,
    onLine: (service, line) => console.log(readableLine(service, line, process.stdout.isTTY)),
    onCrash: (service, exit) => log(`${service} ended (${exit.signal ?? `exit ${exit.code}`}); starting it again.`),
  });
  closers.push(product.stop);
  const demo: Demo = {
    base_url: product.baseUrl,
    dashboard_url: product.dashboardUrl,
    mongodb_uri: servers.mongodbUri,
    kafka_brokers: servers.kafkaBrokers.join(","),
    redis_url: servers.redisUrl,
    organizations: await seedOrganizations(join(localDir, "seed.json"), product.environment),
  };
  writeRunInformation(localDir, demo, product.environment);
  closers.push(() => removeRunInformation(localDir));
  const text = summary(demo, localDir);
  report({ ready: text });
  console.error(text);
}

const stopAsked = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => resolve());
});

try {
  const options = startOptions(process.argv.slice(2), process.env);
  if (options.detach) {
    process.exitCode = await startDetached(process.argv.slice(2), join(localDir, "log", "run.log"));
  } else {
    await Promise.race([run(options), stopAsked]);
    await stopAsked;
    log("Stopping ...");
    await closeAll();
    process.exit(0);
  }
} catch (error) {
  log(
    error instanceof StartError ? error.message : `The start failed: ${error instanceof Error ? error.stack : error}`,
  );
  await closeAll();
  process.exit(1);
}
