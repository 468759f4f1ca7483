import { createAdmission } from "@vvs/fair-queue";
import { batchSubscription, createKafka, kafkaOptions, topicNames } from "@vvs/kafka";
import { runService } from "@vvs/lifecycle";
import {
  connectMongo,
  databaseClock,
  environmentDatabases,
  mongoOptions,
  pingMongo,
  translateMongoError,
} from "@vvs/mongo";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { NotificationService } from "@vvs/proto/account/v1/notifications";
import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import { clientsOf, serveRpc, tlsFiles } from "@vvs/rpc";
import { type Environment, environments, toProtoCaller, toProtoTenant } from "@vvs/tenant";
import type { Audit } from "./actions/delivery-actions.ts";
import { callers, createHandlers } from "./api.ts";
import { createConnections } from "./attempt/connections.ts";
import { egressConfig } from "./attempt/egress-config.ts";
import { loadWebhookDispatcherConfig, poolsOf } from "./config.ts";
import { createSandboxLimit } from "./delivery/sandbox-limit.ts";
import { runSandboxRetention } from "./delivery/sandbox-retention.ts";
import { createDeliveryApi, startDelivery } from "./domain.ts";
import { runFailingReports } from "./endpoints/failing-reports.ts";

const CONNECT_TIMEOUT_MS = 5_000;
/** Maximum number of records accepted by one write. */
const ACCEPTED_AT_ONCE = 500;

await runService("webhook-dispatcher", loadWebhookDispatcherConfig, async ({ config, logger, onClose, stopping }) => {
  const tls = tlsFiles(config);

  const client = await connectMongo({ ...mongoOptions(config), service: "webhook-dispatcher", logger, stopping });
  onClose("mongodb", () => client.close());
  const now = await databaseClock({ client, stopping });
  const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "webhook-dispatcher");
  const connect = clientsOf({ caller: "webhook-dispatcher", tls, onClose });
  const webhookSecrets = connect(WebhookSecretService, config.ACCOUNT_ADDRESS);
  const auditLog = connect(AuditLogService, config.ACCOUNT_ADDRESS);
  const audit: Audit = async (caller, entry) => {
    await auditLog.appendAuditEntry({ caller: toProtoCaller(caller), ...entry });
  };
  const notifications = connect(NotificationService, config.ACCOUNT_ADDRESS);
  const reporting = runFailingReports({ db: databases.live, notifications, now, stopping, logger });
  onClose("reports of failing endpoints", () => reporting.ended());
  const allowPrivateTargets = config.WEBHOOK_ALLOW_PRIVATE_TARGETS;
  const apiOf = (environment: Environment) => {
    const db = databases[environment];
    const api = createDeliveryApi({ environment, db, audit, allowPrivateTargets, stopping, logger, now });
    onClose("replays", () => api.runner.ended());
    return api;
  };
  const server = await serveRpc({
    service: WebhookDispatcherService,
    handlers: createHandlers({ live: apiOf("live"), sandbox: apiOf("sandbox") }, now),
    callers,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls,
    logger,
    translate: translateMongoError,
    admit: createAdmission({ seats: config.CALL_SEATS }),
    ping: pingMongo(client),
  });
  onClose("grpc server", () => server.close());
  if (allowPrivateTargets) logger.warn("webhooks may go to private addresses");

  const kafka = createKafka({ ...kafkaOptions(config), clientId: "webhook-dispatcher", logger });
  const joined: Promise<void>[] = [];
  for (const environment of environments) {
    const connections = createConnections({
      ...egressConfig(config),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      // URLs of one host are independent: none waits for a connection that another one uses.
      connectionsPerOrigin: config.WEBHOOK_CONCURRENCY + config.WEBHOOK_SLOW_CONCURRENCY,
    });
    onClose("connections to subscribers", () => connections.destroy());
    const delivery = startDelivery({
      environment,
      db: databases[environment],
      connections,
      askSecrets: (organizationId) =>
        webhookSecrets.getSigningSecrets({ tenant: toProtoTenant({ organizationId, environment }) }),
      userAgent: config.WEBHOOK_USER_AGENT,
      timeoutMs: config.WEBHOOK_TIMEOUT_MS,
      pools: poolsOf(config),
      limitPerUrl: config.WEBHOOK_CONCURRENCY_PER_URL,
      overLimit:
        environment === "live"
          ? async () => new Set()
          : createSandboxLimit({ db: databases.sandbox, eventsPerHour: config.WEBHOOK_SANDBOX_EVENTS_PER_HOUR }),
      stopping,
      logger,
      now,
    });
    onClose("deliveries", () => delivery.ended());
    const consumer = kafka.runConsumer({
      groupId: `webhook-dispatcher.${environment}`,
      subscriptions: [
        batchSubscription({
          topic: kafka.topicFor(environment, topicNames.webhookRequested),
          schema: WebhookRequestedSchema,
          maxBatch: ACCEPTED_AT_ONCE,
          handleBatch: delivery.accept,
        }),
      ],
      concurrency: 1,
      onJoined: delivery.rebalanced,
      logger,
    });
    onClose("consumer", () => consumer.stop());
    joined.push(consumer.ready);
  }
  const keeping = { days: config.WEBHOOK_SANDBOX_KEPT_DAYS, newest: config.WEBHOOK_SANDBOX_KEPT_DELIVERIES };
  const retention = runSandboxRetention({ db: databases.sandbox, keeping, now, stopping, logger });
  onClose("sandbox retention", () => retention.ended());
  await Promise.all(joined);
});
