import { createAdmission } from "@vvs/fair-queue";
import { serveHttp } from "@vvs/http";
import { runService } from "@vvs/lifecycle";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { RequestLogService } from "@vvs/proto/account/v1/request_log";
import { UsageService } from "@vvs/proto/account/v1/usage";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { JobService } from "@vvs/proto/verification/v1/jobs";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { clientsOf, tlsFiles } from "@vvs/rpc";
import { createApp } from "./app.ts";
import { createKeyCheck } from "./auth/key-check.ts";
import { startKeyReplica } from "./auth/key-replica.ts";
import { loadGatewayConfig, productVersion, redisOptions } from "./config.ts";
import { watchHealth } from "./health.ts";
import { errorDocUrl } from "./http/errors.ts";
import { createRateLimiter } from "./limits/rate-limiter.ts";
import { connectRedis } from "./limits/redis.ts";
import { observeGateway } from "./metrics.ts";
import { startRequestReports } from "./request-log.ts";
import { routes } from "./routes/table.ts";
import { startUsageReports } from "./usage.ts";

/** Maximum wait for connections at the start, in milliseconds. The gateway becomes ready even if a service is unavailable. */
const WARM_UP_MS = 15_000;

await runService("gateway", loadGatewayConfig, async ({ config, logger, onClose, stopping }) => {
  const clock = () => performance.now();
  const now = () => new Date();

  const connect = clientsOf({ caller: "gateway", tls: tlsFiles(config), logger, onClose });
  const apiKeys = connect(ApiKeyService, config.ACCOUNT_ADDRESS);
  const usageService = connect(UsageService, config.ACCOUNT_ADDRESS);
  const requestLogService = connect(RequestLogService, config.ACCOUNT_ADDRESS);
  const entity = connect(EntityService, config.ENTITY_ADDRESS);
  const verification = connect(VerificationService, config.VERIFICATION_ADDRESS);
  const jobs = connect(JobService, config.VERIFICATION_ADDRESS);
  const monitor = connect(MonitorService, config.MONITOR_ADDRESS);

  const redis = connectRedis({ ...redisOptions(config), logger });
  onClose("redis", () => redis.disconnect());
  const limits = { redis, logger, clock };
  const limiter = createRateLimiter({ ...limits, name: "calls", keyPrefix: `${config.REDIS_KEY_PREFIX}ratelimit` });
  const failures = createRateLimiter({
    ...limits,
    name: "failed_authentications",
    keyPrefix: `${config.REDIS_KEY_PREFIX}failed_auth`,
  });

  // Keys are checked until the last request is answered, so the watch ends after the server.
  const watching = new AbortController();
  const replica = startKeyReplica({ account: apiKeys, logger, clock, stopping: watching.signal });
  onClose("key replica", () => watching.abort());
  const checkKey = createKeyCheck({ replica, account: apiKeys, peppers: config.API_KEY_PEPPERS, clock, now });

  const usage = startUsageReports({ account: usageService, logger, now });
  onClose("usage reports", () => usage.close());
  const requestLog = startRequestReports({ account: requestLogService, logger, now });
  onClose("request reports", () => requestLog.close());

  const health = watchHealth({ replica, clients: [entity, verification, monitor], clock });
  onClose("health", () => health.stop());
  observeGateway({ degraded: () => limiter.degraded(), replicaAgeMs: () => replica.ageMs() });

  const app = createApp({
    routes,
    logger,
    recordCall(key, call) {
      usage.count(key, call);
      requestLog.record(key, call);
    },
    version: productVersion(),
    healthy: health.healthy,
    serverAddress: new URL(config.PUBLIC_BASE_URL).hostname,
    stopping,
    checkKey,
    failures,
    limiter,
    admit: createAdmission({ seats: config.CALL_SEATS }),
    trustedProxyHops: config.TRUSTED_PROXY_HOPS,
    allowPrivateTargets: config.WEBHOOK_ALLOW_PRIVATE_TARGETS,
    idempotencyKeys: config.IDEMPOTENCY_KEYS,
    context: { entity, verification, jobs, monitor, publicBaseUrl: config.PUBLIC_BASE_URL },
  });
  const server = await serveHttp({
    listener: app,
    host: config.HTTP_HOST,
    port: config.HTTP_PORT,
    keepAliveSeconds: config.HTTP_KEEP_ALIVE_SECONDS,
    maxConnections: config.HTTP_MAX_CONNECTIONS,
    stopping,
    refusalDocUrl: errorDocUrl(config.PUBLIC_BASE_URL, "invalid_request"),
  });
  onClose("http server", () => server.close());
  logger.info({ port: server.port }, "serving");
  // A new pod receives requests as soon as it is ready, so its connections are opened first.
  await health.warm(WARM_UP_MS, stopping);
});
