import { createGuardedAgent } from "@vvs/egress";
import { batchSubscription, createKafka, kafkaOptions, topicNames } from "@vvs/kafka";
import { runService } from "@vvs/lifecycle";
import { connectMongo, environmentDatabases, translateMongoError } from "@vvs/mongo";
import { AccountService } from "@vvs/proto/account/v1/account";
import { WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import { createClient, serveRpc, tlsFiles } from "@vvs/rpc";
import { environments, toProtoCaller, toProtoTenant } from "@vvs/tenant";
import { loadWebhookDispatcherConfig, poolsOf } from "./config.ts";
import { startDelivering } from "./delivering.ts";
import type { Audit } from "./desk.ts";
import { createForPeople } from "./for-people.ts";
import { callers, createHandlers } from "./service.ts";
import { wayOut } from "./way-out.ts";

const CONNECT_TIMEOUT_MS = 5_000;
/** Records taken over by one write. */
const ACCEPTED_AT_ONCE = 500;

await runService("webhook-dispatcher", loadWebhookDispatcherConfig, async ({ config, logger, onClose, stopping }) => {
  const now = () => new Date();
  const tls = tlsFiles(config);

  const client = await connectMongo({ uri: config.MONGODB_URI, service: "webhook-dispatcher", logger, stopping });
  onClose("mongodb", () => client.close());
  const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "webhook-dispatcher");
  const account = createClient(AccountService, { address: config.ACCOUNT_ADDRESS, caller: "webhook-dispatcher", tls });
  onClose("account client", () => account.close());
  const audit: Audit = async (caller, entry) => {
    await account.appendAuditEntry({ caller: toProtoCaller(caller), ...entry });
  };
  const allowPrivateTargets = config.WEBHOOK_ALLOW_PRIVATE_TARGETS;
  const people = { audit, allowPrivateTargets, stopping, logger, now };
  const forPeople = {
    live: createForPeople({ ...people, environment: "live", db: databases.live }),
    sandbox: createForPeople({ ...people, environment: "sandbox", db: databases.sandbox }),
  };
  for (const environment of environments) onClose("replays", () => forPeople[environment].runner.ended());
  const server = await serveRpc({
    service: WebhookDispatcherService,
    handlers: createHandlers(forPeople, { now }),
    callers,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls,
    logger,
    translate: translateMongoError,
  });
  onClose("grpc server", () => server.close());
  if (allowPrivateTargets) logger.warn("webhooks may go to private addresses");

  const kafka = createKafka({ ...kafkaOptions(config), clientId: "webhook-dispatcher", logger });
  const joined: Promise<void>[] = [];
  for (const environment of environments) {
    const dispatcher = createGuardedAgent({
      ...wayOut(config),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      // URLs of one host are independent of each other: none waits for a connection that another one holds.
      connectionsPerOrigin: config.WEBHOOK_CONCURRENCY + config.WEBHOOK_SLOW_CONCURRENCY,
    });
    onClose("connections to subscribers", () => dispatcher.destroy());
    const delivering = startDelivering({
      environment,
      db: databases[environment],
      dispatcher,
      askSecrets: async (organizationId) =>
        (await account.getSigningSecrets({ tenant: toProtoTenant({ organizationId, environment }) })).secrets,
      userAgent: config.WEBHOOK_USER_AGENT,
      timeoutMs: config.WEBHOOK_TIMEOUT_MS,
      pools: poolsOf(config),
      limitPerUrl: config.WEBHOOK_CONCURRENCY_PER_URL,
      stopping,
      logger,
      now,
    });
    onClose("deliveries", () => delivering.ended());
    const consumer = kafka.runConsumer({
      groupId: `webhook-dispatcher.${environment}`,
      subscriptions: [
        batchSubscription({
          topic: kafka.topicFor(environment, topicNames.webhookRequested),
          schema: WebhookRequestedSchema,
          maxBatch: ACCEPTED_AT_ONCE,
          handleBatch: delivering.accept,
        }),
      ],
      concurrency: 1,
      onJoined: delivering.rebalanced,
      logger,
    });
    onClose("consumer", () => consumer.stop());
    joined.push(consumer.ready);
  }
  await Promise.all(joined);
});
