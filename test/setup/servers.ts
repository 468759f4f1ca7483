import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MongoClient } from "mongodb";
import { isAlive } from "../../deploy/local/run-file.ts";
import { serverCacheDir, startServers } from "../../deploy/local/servers/index.ts";

const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const runsDir = join(project, ".cache", "test-servers");

/** MongoDB's default is 300. */
const SNAPSHOT_HISTORY_SECONDS = 5;

declare global {
  var stopTestServers: (() => Promise<void>) | undefined;
}

/** Jest's globalSetup. Starts real, empty servers for all tests of a run, unless the environment names them. */
export default async function setup(): Promise<void> {
  // The setup of the system tests, which jest runs first, has already started them.
  if (globalThis.stopTestServers) return;
  await mkdir(runsDir, { recursive: true });
  await removeDeadRuns();
  const dataDir = await mkdtemp(join(runsDir, `${process.pid}-`));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const cacheDir = serverCacheDir(process.env);
  // Tests kill programs and not the machine, so no write needs to wait for the disk.
  const servers = await startServers({ dataDir, cacheDir, log, env: process.env, waitsForDisk: false, isBrief: true });
  if (!process.env.MONGODB_URI) await fitForTests(servers.mongodbUri);
  // Tests that start their own servers are skipped if the environment names the servers.
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

/** Errors: MongoDB does not have these parameters. */
async function fitForTests(mongodbUri: string): Promise<void> {
  const client = new MongoClient(mongodbUri);
  const set = (parameter: object) => client.db("admin").command({ setParameter: 1, ...parameter });
  // Tests have clocks of their own: what they store may have expired by MongoDB's clock, which would remove it once a minute.
  await set({ ttlMonitorEnabled: false });
  // MongoDB keeps the files of dropped databases open for this long, and ends when the system allows no more open files.
  await set({ minSnapshotHistoryWindowInSeconds: SNAPSHOT_HISTORY_SECONDS });
  await client.close();
}

/** Removes the data of runs that were killed and so could not remove it themselves. */
async function removeDeadRuns(): Promise<void> {
  for (const run of await readdir(runsDir)) {
    if (!isAlive(Number(run.split("-")[0]))) await rm(join(runsDir, run), { recursive: true, force: true });
  }
}
