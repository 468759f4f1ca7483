import { randomBytes, randomUUID } from "node:crypto";
import type { ServerOptions } from "node:http";
import { serveHttp } from "@vvs/http";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { JobService } from "@vvs/proto/verification/v1/jobs";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { createClient } from "@vvs/rpc";
import { atEnd, silentLogger as logger } from "@vvs/testing";
import { type AppOptions, createApp } from "../app.ts";
import { createKeyCheck } from "../auth/key-check.ts";
import { startKeyReplica } from "../auth/key-replica.ts";
import { watchHealth } from "../health.ts";
import { errorDocUrl } from "../http/errors.ts";
import { createRateLimiter } from "../limits/rate-limiter.ts";
import { connectRedis } from "../limits/redis.ts";
import { routes } from "../routes/table.ts";
import { expectDocumented } from "./conformance.ts";
import { serveFakeAccount, serveFakes } from "./fake-services.ts";

const PUBLIC_BASE_URL = "https://api.example.test";
const ring = () => [{ id: "k1", key: randomBytes(32) }];

const isJson = ({ headers }: Response) => headers.get("content-type") === "application/json";

/**
 * Starts the whole gateway on a free port, with real Redis and with services whose answers the test sets, until the tests of
 * the file are over.
 */
export async function startTestGateway(overrides: Partial<AppOptions> = {}, limits?: ServerOptions) {
  const clock = () => performance.now();
  const peppers = ring();
  const account = await serveFakeAccount(peppers, logger);
  const services = await serveFakes(logger);
  const client = (port: number) => ({ address: `127.0.0.1:${port}`, caller: "gateway", tls: undefined });
  const accountClient = createClient(ApiKeyService, client(account.port));
  const clients = {
    entity: createClient(EntityService, client(services.entity.port)),
    verification: createClient(VerificationService, client(services.verification.port)),
    jobs: createClient(JobService, client(services.jobs.port)),
    monitor: createClient(MonitorService, client(services.monitor.port)),
  };
  const redis = connectRedis({ url: process.env.REDIS_URL!, logger });
  const prefix = randomUUID();
  const ending = new AbortController();
  const replica = startKeyReplica({ account: accountClient, logger, clock, stopping: ending.signal });
  const health = watchHealth({ replica, clients: Object.values(clients), clock });

  const app = createApp({
    routes,
    logger,
    recordCall: () => undefined,
    version: "1.2.3",
    healthy: health.healthy,
    serverAddress: "api.example.test",
    stopping: new AbortController().signal,
    checkKey: createKeyCheck({ replica, account: accountClient, peppers, clock, now: () => new Date() }),
    limiter: createRateLimiter({ redis, name: "calls", keyPrefix: `${prefix}:calls`, logger, clock }),
    admit: (_call, work) => work(),
    failures: createRateLimiter({ redis, name: "failures", keyPrefix: `${prefix}:failures`, logger, clock }),
    trustedProxyHops: 1,
    allowPrivateTargets: false,
    idempotencyKeys: [...ring(), { id: "k0", key: randomBytes(32) }],
    context: { ...clients, publicBaseUrl: PUBLIC_BASE_URL },
    ...overrides,
  });
  const server = await serveHttp({
    listener: app,
    host: "127.0.0.1",
    port: 0,
    keepAliveSeconds: 5,
    maxConnections: 100,
    stopping: overrides.stopping ?? new AbortController().signal,
    refusalDocUrl: errorDocUrl(PUBLIC_BASE_URL, "invalid_request"),
    limits,
  });

  /** Sends a request, and throws if the answer is not as documented. A body that is not a string is sent as JSON. */
  async function send(
    method: string,
    path: string,
    options: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
  ) {
    const { key, body } = options;
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...options.headers,
      },
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every kind
    const parsed: any = text && isJson(response) ? JSON.parse(text) : text || undefined;
    const answer = { status: response.status, headers: response.headers, body: parsed };
    expectDocumented(method, path, answer);
    return answer;
  }

  atEnd(async () => {
    await server.close();
    health.stop();
    ending.abort();
    for (const one of [...Object.values(clients), accountClient]) one.close();
    redis.disconnect();
    for (const one of [...Object.values(services), account]) await one.close();
  });
  const { value: key } = account.createKey();
  return {
    baseUrl: `http://127.0.0.1:${server.port}`,
    port: server.port,
    account,
    /** A valid key. */
    key,
    ...services,
    redis,
    send,
    /** Sends a request with the valid key. */
    get: (path: string) => send("GET", path, { key }),
    /** The same with a body. */
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      send("POST", path, { key, body, headers }),
  };
}

export { eventually as until } from "@vvs/testing";
