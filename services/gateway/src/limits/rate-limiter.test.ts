import { randomUUID } from "node:crypto";
import { connect as connectTo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { captureLogs } from "@vvs/testing";
import { until } from "../testing/gateway.ts";
import { createRateLimiter, type Quota, quotaHeaders, type RateLimiter } from "./rate-limiter.ts";
import { connectRedis } from "./redis.ts";
import { slidingWindowScript } from "./sliding-window.ts";

const { logger, lines } = captureLogs();
const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

function limiterOn(url: string, keyPrefix: string = randomUUID()) {
  const redis = connectRedis({ url, logger });
  closes.push(() => redis.disconnect());
  const limiter = createRateLimiter({ redis, name: "calls", keyPrefix, logger, clock: () => performance.now() });
  return { redis, limiter, keyPrefix };
}

async function readyLimiter(keyPrefix?: string, url = process.env.REDIS_URL!) {
  const one = limiterOn(url, keyPrefix);
  await until(() => one.redis.status === "ready");
  return one;
}

async function limiterBehindProxy() {
  const proxy = await redisProxy();
  closes.push(proxy.close);
  return { ...(await readyLimiter(undefined, proxy.url)), proxy };
}

/** Makes calls until Redis decides them again. */
const backOn = (limiter: RateLimiter) =>
  until(async () => {
    await limiter.consume("probe", 1_000_000);
    return !limiter.degraded();
  });

/** Runs `action` while timers fire only when the test advances them; I/O goes on. */
async function withStoppedTimers<T>(action: () => Promise<T>): Promise<T> {
  jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "queueMicrotask", "performance", "Date"] });
  try {
    return await action();
  } finally {
    jest.useRealTimers();
  }
}

describe("with Redis", () => {
  test("accepts exactly as many calls as the limit, and reports what remains", async () => {
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

  test("gateways share the limit exactly, even for concurrent calls", async () => {
    const [one, other] = [await readyLimiter("shared"), await readyLimiter("shared")];
    const key = randomUUID();
    // With stopped timers, a machine too slow to answer in time does not look like an outage of Redis.
    const quotas = await withStoppedTimers(() =>
      Promise.all(Array.from({ length: 60 }, (_, index) => (index % 2 ? one : other).limiter.consume(key, 20))),
    );
    expect(quotas.filter(({ allowed }) => allowed)).toHaveLength(20);
  });

  test("keys do not affect each other", async () => {
    const { limiter } = await readyLimiter();
    expect((await limiter.consume("a", 1)).allowed).toBe(true);
    expect((await limiter.consume("b", 1)).allowed).toBe(true);
    expect((await limiter.consume("a", 1)).allowed).toBe(false);
  });

  test("a changed limit counts the calls accepted before", async () => {
    const { limiter } = await readyLimiter();
    for (let call = 0; call < 5; call++) await limiter.consume("k", 5);
    expect((await limiter.consume("k", 5)).allowed).toBe(false);
    expect(await limiter.consume("k", 10)).toMatchObject({ allowed: true, remaining: 4 });
    expect((await limiter.consume("k", 2)).allowed).toBe(false);
  });

  test("a limit of 0 accepts no call", async () => {
    const { limiter } = await readyLimiter();
    expect(await limiter.consume("k", 0)).toEqual({ allowed: false, limit: 0, remaining: 0, resetSeconds: 60 });
  });

  test("the window slides: a slot is free again exactly one window after it was taken, and refused calls do not count", async () => {
    // Runs the script directly, with a window of 1 s.
    const { redis } = await readyLimiter();
    const key = randomUUID();
    const call = async () => (await redis.eval(slidingWindowScript, 1, key, "1", "1", "5", "1")) as [number, number];
    const passed: { before: number; after: number }[] = [];
    await until(async () => {
      const before = performance.now();
      const [count, waitMs] = await call();
      expect(waitMs).toBeGreaterThanOrEqual(1);
      expect(waitMs).toBeLessThanOrEqual(1_000);
      if (count <= 5) passed.push({ before, after: performance.now() });
      return passed.length > 12;
    });
    // Redis accepted each call between its `before` and `after`; the fifth call after it is at least one window later.
    for (const [index, { before }] of passed.entries()) {
      const fifthLater = passed[index + 5];
      if (fifthLater) expect(fifthLater.after - before).toBeGreaterThan(999);
    }
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });
});

describe("without Redis", () => {
  test("limits continue in memory, equally strict, and no request waits", async () => {
    const { limiter } = limiterOn("redis://127.0.0.1:1");
    for (let call = 0; call < 3; call++) expect((await limiter.consume("k", 3)).allowed).toBe(true);
    expect(await limiter.consume("k", 3)).toMatchObject({ allowed: false, remaining: 0 });
    expect(limiter.degraded()).toBe(true);
  });

  test("no call waits longer than 250 ms for a Redis that hangs", async () => {
    const { proxy, limiter } = await limiterBehindProxy();
    proxy.hang(true);
    await withStoppedTimers(async () => {
      const deciding = limiter.consume("k", 2);
      await jest.advanceTimersByTimeAsync(250);
      expect((await deciding).allowed).toBe(true);
    });
    expect(limiter.degraded()).toBe(true);
  });

  test("memory is used while Redis hangs or is unavailable, and Redis again afterwards, without a restart", async () => {
    const { proxy, redis, limiter } = await limiterBehindProxy();
    expect((await limiter.consume("k", 2)).allowed).toBe(true);
    expect(limiter.degraded()).toBe(false);

    proxy.hang(true);
    expect((await limiter.consume("k", 2)).allowed).toBe(true);
    expect(limiter.degraded()).toBe(true);
    proxy.hang(false);
    await backOn(limiter);

    proxy.drop(true);
    await until(() => redis.status !== "ready");
    expect((await limiter.consume("other", 1)).allowed).toBe(true);
    expect((await limiter.consume("other", 1)).allowed).toBe(false);
    expect(limiter.degraded()).toBe(true);
    proxy.drop(false);
    await backOn(limiter);
  });
});

describe("while Redis does not answer", () => {
  const LIMIT = 100;

  /** Makes calls one after another. */
  async function call(limiter: RateLimiter, times: number, key = "k"): Promise<Quota[]> {
    const quotas: Quota[] = [];
    for (let made = 0; made < times; made++) quotas.push(await limiter.consume(key, LIMIT));
    return quotas;
  }

  const admitted = (quotas: readonly Quota[]) => quotas.filter(({ allowed }) => allowed).length;

  test("the gateway continues from Redis' count, and `remaining` never rises during both switches", async () => {
    const { proxy, limiter, redis } = await limiterBehindProxy();
    redis.options.socketTimeout = undefined;
    const quotas = await call(limiter, 40);
    proxy.hang(true);
    quotas.push(...(await call(limiter, 30)));
    expect(limiter.degraded()).toBe(true);
    proxy.hang(false);
    await backOn(limiter);
    quotas.push(...(await call(limiter, 50)));
    expect(admitted(quotas)).toBe(LIMIT);
    const remaining = quotas.map((quota) => quota.remaining);
    expect(remaining).toEqual(remaining.toSorted((one, other) => other - one));
  });

  test("calls of other gateways that Redis last reported count too", async () => {
    const { proxy, limiter, keyPrefix } = await limiterBehindProxy();
    const other = await readyLimiter(keyPrefix);
    await call(other.limiter, 60);
    await call(limiter, 10);
    proxy.hang(true);
    expect(admitted(await call(limiter, 50))).toBe(LIMIT - 70);
  });

  test("calls admitted without Redis count for the other gateways as soon as it answers", async () => {
    const { proxy, limiter, keyPrefix } = await limiterBehindProxy();
    const other = await readyLimiter(keyPrefix);
    await call(limiter, 10);
    proxy.drop(true);
    expect(admitted(await call(limiter, 50))).toBe(50);
    proxy.drop(false);
    await backOn(limiter);
    await until(async () => (await other.redis.llen(`${keyPrefix}:k`)) === 60);
    expect(admitted(await call(other.limiter, 50))).toBe(LIMIT - 60);
  });

  test("a call that Redis counts late is counted once", async () => {
    const { proxy, limiter, redis, keyPrefix } = await limiterBehindProxy();
    redis.options.socketTimeout = undefined;
    await call(limiter, 10);
    proxy.hang(true);
    expect(admitted(await Promise.all(Array.from({ length: 5 }, () => limiter.consume("k", LIMIT))))).toBe(5);
    proxy.hang(false);
    await backOn(limiter);
    expect(await redis.llen(`${keyPrefix}:k`)).toBe(15);
    expect(admitted(await call(limiter, 100))).toBe(LIMIT - 15);
  });

  test("a call that Redis counted but whose answer was lost does not raise the limit", async () => {
    const { proxy, limiter } = await limiterBehindProxy();
    const quotas = await call(limiter, 10);
    proxy.mute(true);
    quotas.push(...(await Promise.all(Array.from({ length: 40 }, () => limiter.consume("k", LIMIT)))));
    proxy.mute(false);
    await backOn(limiter);
    quotas.push(...(await call(limiter, 100)));
    expect(admitted(quotas)).toBeGreaterThanOrEqual(50);
    expect(admitted(quotas)).toBeLessThanOrEqual(LIMIT);
  });

  test("a Redis that loses its data does not raise the limit", async () => {
    const { limiter, redis, keyPrefix } = await readyLimiter();
    await call(limiter, 60);
    await redis.del(`${keyPrefix}:k`);
    expect((await limiter.consume("k", LIMIT)).remaining).toBe(39);
    await until(async () => (await redis.llen(`${keyPrefix}:k`)) === 61);
    expect(admitted(await call(limiter, 100))).toBe(39);
  });

  test("no gateway admits more than the limit while Redis repeatedly hangs, drops connections or loses answers", async () => {
    const { proxy, limiter } = await limiterBehindProxy();
    const quotas: Quota[] = [];
    for (const disturb of [proxy.hang, proxy.mute, proxy.drop, proxy.hang]) {
      const burst = () => Promise.all(Array.from({ length: 15 }, () => limiter.consume("k", LIMIT)));
      const inFlight = burst();
      disturb(true);
      quotas.push(...(await inFlight), ...(await burst()));
      disturb(false);
      quotas.push(...(await burst()));
      await backOn(limiter);
    }
    expect(admitted(quotas)).toBeLessThanOrEqual(LIMIT);
    expect(admitted(quotas)).toBeGreaterThan(LIMIT / 2);
    expect((await call(limiter, LIMIT)).at(-1)!.allowed).toBe(false);
  });

  test("a gateway that was busy when the answer arrived still uses it", async () => {
    const { limiter } = await readyLimiter();
    await limiter.consume("k", LIMIT);
    const answering = limiter.consume("k", LIMIT);
    await new Promise(setImmediate);
    const busyUntil = performance.now() + 500;
    while (performance.now() < busyUntil);
    expect((await answering).remaining).toBe(LIMIT - 2);
    expect(limiter.degraded()).toBe(false);
  });

  test("every switch is logged, with how long memory was used", async () => {
    const { proxy, limiter } = await limiterBehindProxy();
    lines.length = 0;
    proxy.hang(true);
    await call(limiter, 3);
    proxy.hang(false);
    await backOn(limiter);
    const switches = lines.filter((line) => line.limiter === "calls");
    expect(switches.map(({ msg }) => msg)).toEqual([
      "Redis does not answer; limits are counted in memory",
      "Redis answers again; limits are shared",
    ]);
    expect(switches[1]!.duration_ms).toBeGreaterThan(0);
  });
});

test("both families of headers contain the same quota", () => {
  expect(quotaHeaders({ allowed: true, limit: 100, remaining: 50, resetSeconds: 30 })).toEqual({
    "RateLimit-Policy": '"default";q=100;w=60',
    RateLimit: '"default";r=50;t=30',
    "X-RateLimit-Limit": "100",
    "X-RateLimit-Remaining": "50",
    "X-RateLimit-Reset": "30",
  });
});

/** A proxy to Redis that can hang like a host without network, refuse connections, or lose answers. */
async function redisProxy() {
  const target = new URL(process.env.REDIS_URL!);
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let hanging = false;
  let dropping = false;
  let muted = false;
  const server = createServer((socket) => {
    if (dropping) return void socket.destroy();
    const upstream = connectTo(Number(target.port), target.hostname);
    sockets.add(socket).add(upstream);
    clients.add(socket);
    if (hanging) socket.pause();
    socket.on("data", (chunk) => upstream.write(chunk)).on("error", () => undefined);
    upstream.on("data", (chunk) => muted || socket.write(chunk)).on("error", () => undefined);
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
    /** Loses Redis' answers while it still receives everything; at the end drops the connections. */
    mute(value: boolean) {
      muted = value;
      if (!value) destroyAll();
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
