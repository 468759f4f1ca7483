import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { atEnd, eventually, listening, silentLogger as logger, temporaryFolder, untilEnd } from "@vvs/testing";
import { Redis } from "ioredis";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { startRedis } from "../../deploy/local/servers/redis.ts";
import { createRateLimiter } from "../../services/gateway/src/limits/rate-limiter.ts";
import { connectRedis } from "../../services/gateway/src/limits/redis.ts";

test("after a fail-over of Redis the gateway leaves the old primary, which no longer takes writes, for the new one", async () => {
  const folder = temporaryFolder();
  const cacheDir = serverCacheDir(process.env);
  const [old, next] = await Promise.all(
    ["old", "next"].map(async (name) =>
      untilEnd(await startRedis({ dataDir: join(folder, name), cacheDir, log: () => undefined })),
    ),
  );

  // The address of the primary, as of a service or a load balancer: connections that are open stay where they are.
  let primary = old!;
  const address = createServer((socket) => {
    const upstream = connect(primary.port, "127.0.0.1");
    socket.pipe(upstream).on("error", () => socket.destroy());
    upstream.pipe(socket).on("error", () => upstream.destroy());
  });

  const redis = connectRedis({ url: `redis://127.0.0.1:${await listening(address)}`, logger });
  atEnd(() => redis.disconnect());
  const clock = () => performance.now();
  const limiter = createRateLimiter({ redis, name: "calls", keyPrefix: "calls", logger, clock });
  await eventually(() => redis.status === "ready");
  expect((await limiter.consume("key", 3)).remaining).toBe(2);

  primary = next!;
  const operator = new Redis(old!.url);
  atEnd(() => operator.disconnect());
  await operator.replicaof("127.0.0.1", next!.port);
  expect(await limiter.consume("key", 3)).toMatchObject({ allowed: true, remaining: 1 });
  await eventually(async () => {
    await limiter.consume("probe", 1_000_000);
    return !limiter.degraded();
  });
  const successor = new Redis(next!.url);
  atEnd(() => successor.disconnect());
  await eventually(async () => (await successor.exists("calls:probe")) === 1);
  expect((await limiter.consume("key", 3)).allowed).toBe(true);
  expect((await limiter.consume("key", 3)).allowed).toBe(false);
});
