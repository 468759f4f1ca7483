import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { atEnd, eventually, silentLogger as logger, temporaryFolder } from "@vvs/testing";
import { Redis } from "ioredis";
import { generateSecrets } from "../../deploy/local/secrets.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { launch, type ServerOptions } from "../../deploy/local/servers/managed.ts";
import { fetchRedisServer, pingRedis, startRedis } from "../../deploy/local/servers/redis.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { createRateLimiter } from "../../services/gateway/src/limits/rate-limiter.ts";
import { connectRedis, type RedisOptions } from "../../services/gateway/src/limits/redis.ts";
import { tlsInFrontOf } from "../support/tls-in-front.ts";
import { type CertificateFiles, writeCertificates } from "./certificates.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

function optionsOf(name: string): ServerOptions {
  mkdirSync(join(folder, name), { recursive: true });
  return { dataDir: join(folder, name), cacheDir: serverCacheDir(process.env), log: () => undefined };
}

async function start(name: string) {
  const server = await startRedis(optionsOf(name));
  atEnd(() => server.stop());
  const operator = new Redis(server.url);
  atEnd(() => operator.disconnect());
  return { ...server, operator };
}

/** Starts Redis with other arguments, such as a Sentinel. */
async function startWith(name: string, args: (port: number) => readonly string[]) {
  const options = optionsOf(name);
  const program = await fetchRedisServer(options);
  const server = await launch({
    name: "Redis",
    options,
    command: async (port) => ({ command: program, args: [...args(port)] }),
    probe: (port) => pingRedis(`redis://127.0.0.1:${port}`, 1_000),
  });
  atEnd(() => server.stop());
  return server;
}

/** Connects as the gateway does, and returns a function that counts a call in Redis: undefined while it can't. */
function limiterOf(options: RedisOptions) {
  const redis = connectRedis({ ...options, logger });
  atEnd(() => redis.disconnect());
  const clock = () => performance.now();
  const limiter = createRateLimiter({ redis, name: "calls", keyPrefix: "calls", logger, clock });
  const counts = async () => {
    await limiter.consume("key", 1_000_000);
    return !limiter.degraded();
  };
  return { redis, counts };
}

/** Ends TLS in front of a port, only for clients with a certificate of the authority, as managed services do. */
function securely(port: number, files: CertificateFiles): Promise<number> {
  const pem = readFileSync(files.server, "utf8");
  return tlsInFrontOf(port, { key: pem, cert: pem, ca: readFileSync(files.ca, "utf8"), requestCert: true });
}

describe("the gateway's limits", () => {
  test("are counted in a Redis with TLS by a private CA, a client certificate and a user", async () => {
    const files = writeCertificates(folder);
    const { port, operator } = await start("redis");
    // Fewer than docs/stores.md names: only what is used, for this test's prefix of keys.
    const rights = ["+@connection", "+@scripting", "+@list", "+del", "+info", "+pexpire", "+time"];
    await operator.call("ACL", "SETUSER", "vvs", "on", ">p@ss", "~calls:*", ...rights);
    await operator.call("ACL", "SETUSER", "default", "resetpass", "off");
    const url = `redis://vvs:p%40ss@127.0.0.1:${await securely(port, files)}`;
    const [ca, cert, key] = [files.ca, files.clientCert, files.clientKey].map((file) => readFileSync(file, "utf8"));
    const { counts } = limiterOf({ url, tls: { ca, cert, key } });
    await eventually(counts);
    for (const tls of [{ ca }, { cert, key }]) {
      const { redis } = limiterOf({ url, tls });
      await new Promise((resolve) => redis.once("error", resolve));
      expect(redis.status).not.toBe("ready");
    }
  });

  test("are counted in the primary that Sentinels name, also after a fail-over", async () => {
    const [primary, replica] = [await start("primary"), await start("replica")];
    await replica.operator.replicaof("127.0.0.1", primary.port);
    const sentinel = await startWith("sentinel", (port) => {
      const file = join(folder, "sentinel.conf");
      const monitored = [`sentinel monitor vvs 127.0.0.1 ${primary.port} 1`, "sentinel failover-timeout vvs 5000"];
      writeFileSync(file, [`port ${port}`, "bind 127.0.0.1", ...monitored, ""].join("\n"));
      return [file, "--sentinel"];
    });
    const sentinels = { addresses: [{ host: "127.0.0.1", port: sentinel.port }] };
    const { counts } = limiterOf({ url: "redis://vvs", sentinels });
    await eventually(counts);
    expect(await primary.operator.exists("calls:key")).toBe(1);

    const watching = new Redis(sentinel.port, "127.0.0.1");
    atEnd(() => watching.disconnect());
    const facts = async () => (await watching.call("SENTINEL", "REPLICAS", "vvs")) as string[][];
    await eventually(async () => (await facts())[0]?.includes(String(replica.port)));
    await eventually(async () => (await watching.call("SENTINEL", "FAILOVER", "vvs").catch(() => "")) === "OK");
    await eventually(async () => ((await replica.operator.role()) as unknown[])[0] === "master");
    await replica.operator.del("calls:key");
    await eventually(async () => (await counts()) && (await replica.operator.exists("calls:key")) === 1);
  });

  test("are refused a Redis in cluster mode: the gateway ends and says why", async () => {
    const cluster = await startWith("cluster", (port) => [
      ...["--port", String(port), "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--save", ""],
    ]);
    const { API_KEY_PEPPERS, IDEMPOTENCY_KEYS } = generateSecrets();
    const gateway = spawn(process.execPath, ["services/gateway/src/main.ts"], {
      cwd: projectRoot,
      env: {
        PATH: process.env.PATH,
        REDIS_URL: `redis://127.0.0.1:${cluster.port}`,
        PUBLIC_BASE_URL: "https://api.example.com",
        API_KEY_PEPPERS,
        IDEMPOTENCY_KEYS,
        ADMIN_HOST: "127.0.0.1",
        ADMIN_PORT: "0",
        HTTP_PORT: "0",
      },
    });
    atEnd(() => gateway.kill("SIGKILL"));
    let output = "";
    gateway.stdout.on("data", (chunk) => {
      output += chunk;
    });
    const code = await new Promise((resolve) => gateway.once("exit", resolve));
    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringContaining("cluster mode, which is not supported"),
    });
  });
});
