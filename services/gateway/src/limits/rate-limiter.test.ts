import { randomUUID } from "node:crypto";
import { connect as connectTo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createLogger } from "@vvs/logging";
import { until } from "../testing/gateway.ts";
import { quotaHeaders } from "./quota-headers.ts";
import { createRateLimiter, WINDOW_SECONDS } from "./rate-limiter.ts";
import { connectRedis } from "./redis.ts";
import { MemorySlidingLimiter, slidingLogScript } from "./sliding-log.ts";

const logger = createLogger({ service: "gateway", level: "silent" });
const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

function limiterOn(url: string, keyPrefix: string = randomUUID()) {
  const redis = connectRedis({ url, logger });
  closes.push(() => redis.disconnect());
  const limiter = createRateLimiter({ redis, keyPrefix, clock: () => performance.now() });
  return { redis, limiter, keyPrefix };
}

async function readyLimiter(keyPrefix?: string) {
  const one = limiterOn(process.env.REDIS_URL!, keyPrefix);
  await until(() => one.redis.status === "ready");
  return one;
}

describe("with Redis", () => {
  test("lets the limit pass, not one more, and tells what is left", async () => {
    const { limiter } = await readyLimiter();
    for (const remaining of [2, 1, 0]) {
      const { resetSeconds, ...quota } = await limiter.consume("k", 3);
      expect(quota).toEqual({ allowed: true, limit: 3, remaining });
      expect(resetSeconds).toBeGreaterThan(50);
      expect(resetSeconds).toBeLessThanOrEqual(60);
    }
    const refused = await limiter.consume("k", 3);
    expect(refused).toMatchObject({ allowed: false, limit: 3, remaining: 0 });
    expect(refused.resetSeconds).toBeGreaterThanOrEqual(1);
    expect(refused.resetSeconds).toBeLessThanOrEqual(60);
    expect(limiter.degraded()).toBe(false);
  });

  test("gateways share the limit: at once or not, exactly so many calls pass", async () => {
    const [one, other] = [await readyLimiter("shared"), await readyLimiter("shared")];
    const key = randomUUID();
    const quotas = await Promise.all(
      Array.from({ length: 300 }, (_, index) => (index % 2 ? one : other).limiter.consume(key, 100)),
    );
    expect(quotas.filter(({ allowed }) => allowed)).toHaveLength(100);
  });

  test("keys do not touch each other", async () => {
    const { limiter } = await readyLimiter();
    expect((await limiter.consume("a", 1)).allowed).toBe(true);
    expect((await limiter.consume("b", 1)).allowed).toBe(true);
    expect((await limiter.consume("a", 1)).allowed).toBe(false);
  });

  test("a plan that changes counts what passed before", async () => {
    const { limiter } = await readyLimiter();
    for (let call = 0; call < 5; call++) await limiter.consume("k", 5);
    expect((await limiter.consume("k", 5)).allowed).toBe(false);
    expect(await limiter.consume("k", 10)).toMatchObject({ allowed: true, remaining: 4 });
    expect((await limiter.consume("k", 2)).allowed).toBe(false);
  });

  test("a limit of 0 lets nothing pass", async () => {
    const { limiter } = await readyLimiter();
    expect(await limiter.consume("k", 0)).toEqual({ allowed: false, limit: 0, remaining: 0, resetSeconds: 60 });
  });

  test("the window slides: a slot frees exactly a window after it was taken, refused calls count nothing", async () => {
    // The script itself, with a window of 1 s.
    const { redis } = await readyLimiter();
    const key = randomUUID();
    const call = async () => (await redis.eval(slidingLogScript, 1, key, "1", "1", "5", "1")) as [number, number];
    const passed: { before: number; after: number }[] = [];
    await until(async () => {
      const before = performance.now();
      const [count, waitMs] = await call();
      expect(waitMs).toBeGreaterThanOrEqual(1);
      expect(waitMs).toBeLessThanOrEqual(1_000);
      if (count <= 5) passed.push({ before, after: performance.now() });
      return passed.length > 12;
    });
    // Seen from outside, around Redis' own moments: the fifth call after one came at least a window later.
    for (const [index, { before }] of passed.entries()) {
      const fifthLater = passed[index + 5];
      if (fifthLater) expect(fifthLater.after - before).toBeGreaterThan(999);
    }
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });
});

describe("without Redis", () => {
  test("limits go on in memory, are as strict, and keep no request waiting", async () => {
    const { limiter } = limiterOn("redis://127.0.0.1:1");
    for (let call = 0; call < 3; call++) expect((await limiter.consume("k", 3)).allowed).toBe(true);
    expect(await limiter.consume("k", 3)).toMatchObject({ allowed: false, remaining: 0 });
    expect(limiter.degraded()).toBe(true);
  });

  test("a Redis that hangs or goes away degrades, one that comes back is used again without a restart", async () => {
    const proxy = await redisProxy();
    closes.push(proxy.close);
    const { redis, limiter } = limiterOn(proxy.url);
    await until(() => redis.status === "ready");
    expect((await limiter.consume("k", 2)).allowed).toBe(true);
    expect(limiter.degraded()).toBe(false);

    proxy.hang(true);
    expect((await limiter.consume("k", 2)).allowed).toBe(true);
    expect(limiter.degraded()).toBe(true);
    proxy.hang(false);
    await until(async () => {
      await limiter.consume("probe", 1_000_000);
      return !limiter.degraded();
    });

    proxy.drop(true);
    await until(() => redis.status !== "ready");
    expect((await limiter.consume("other", 1)).allowed).toBe(true);
    expect((await limiter.consume("other", 1)).allowed).toBe(false);
    expect(limiter.degraded()).toBe(true);
    proxy.drop(false);
    await until(async () => {
      await limiter.consume("probe", 1_000_000);
      return redis.status === "ready" && !limiter.degraded();
    });
  });

  test("the window slides in memory too", async () => {
    let now = 0;
    const memory = new MemorySlidingLimiter({
      log: new Map(),
      points: 2,
      windowSeconds: WINDOW_SECONDS,
      keyPrefix: "",
      clock: () => now,
    });
    await memory.consume("k");
    now = 59_000;
    await memory.consume("k");
    await expect(memory.consume("k")).rejects.toMatchObject({ msBeforeNext: 1_000 });
    now = 60_000;
    await memory.consume("k");
    now = 118_999;
    await expect(memory.consume("k")).rejects.toMatchObject({ msBeforeNext: 1 });
  });
});

test("both families of headers tell of one quota", () => {
  expect(quotaHeaders({ allowed: true, limit: 100, remaining: 50, resetSeconds: 30 })).toEqual({
    "RateLimit-Policy": '"default";q=100;w=60',
    RateLimit: '"default";r=50;t=30',
    "X-RateLimit-Limit": "100",
    "X-RateLimit-Remaining": "50",
    "X-RateLimit-Reset": "30",
  });
});

/** A way to Redis that can hang, as a host that lost its network does, or refuse connections. */
async function redisProxy() {
  const target = new URL(process.env.REDIS_URL!);
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let hanging = false;
  let dropping = false;
  const server = createServer((socket) => {
    if (dropping) return void socket.destroy();
    const upstream = connectTo(Number(target.port), target.hostname);
    sockets.add(socket).add(upstream);
    clients.add(socket);
    if (hanging) socket.pause();
    socket.on("data", (chunk) => upstream.write(chunk)).on("error", () => undefined);
    upstream.on("data", (chunk) => socket.write(chunk)).on("error", () => undefined);
    socket.on("close", () => upstream.destroy());
    upstream.on("close", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: `redis://127.0.0.1:${(server.address() as { port: number }).port}`,
    hang(value: boolean) {
      hanging = value;
      for (const socket of clients) value ? socket.pause() : socket.resume();
    },
    drop(value: boolean) {
      dropping = value;
      if (value) destroyAll();
    },
    close() {
      destroyAll();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
