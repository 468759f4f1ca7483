import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { serverCacheDir, startServers } from "../../deploy/local/servers/index.ts";

const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const runsDir = join(project, ".cache", "test-servers");

declare global {
  var stopTestServers: (() => Promise<void>) | undefined;
}

/** Jest's globalSetup: real servers for all tests of a run, on fresh data, unless the environment names them. */
export default async function setup(): Promise<void> {
  // The setup of the system tests, which jest runs first, has needed them already.
  if (globalThis.stopTestServers) return;
  await mkdir(runsDir, { recursive: true });
  await removeDeadRuns();
  const dataDir = await mkdtemp(join(runsDir, `${process.pid}-`));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const servers = await startServers({ dataDir, cacheDir: serverCacheDir(process.env), log, env: process.env });
  // Tests that start servers of their own run only where these could be started.
  const given = process.env.MONGODB_URI || process.env.KAFKA_BROKERS || process.env.REDIS_URL;
  process.env.TEST_SERVERS = given ? "given" : "started";
  process.env.MONGODB_URI = servers.mongodbUri;
  process.env.KAFKA_BROKERS = servers.kafkaBrokers.join(",");
  process.env.REDIS_URL = servers.redisUrl;
  globalThis.stopTestServers = async () => {
    await servers.stop();
    await removeData();
  };
}

/** A run that was killed could not remove its data: the next one does. */
async function removeDeadRuns(): Promise<void> {
  for (const run of await readdir(runsDir)) {
    if (!isAlive(Number(run.split("-")[0]))) await rm(join(runsDir, run), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
