import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { createKafka, kafkaOptions, subscription, topicNames } from "@vvs/kafka";
import { runService } from "@vvs/lifecycle";
import { connectMongo, environmentDatabases, translateMongoError } from "@vvs/mongo";
import { runOutboxRelay } from "@vvs/outbox";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { ChangeDetectedSchema, VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { createClient, serveRpc, tlsFiles } from "@vvs/rpc";
import { type CallerContext, type Environment, toProtoCaller } from "@vvs/tenant";
import { fastClockOf, loadMonitorConfig } from "./config.ts";
import { runScheduler } from "./scheduler.ts";
import { createMonitorHandlers, monitorCallers } from "./service.ts";
import { createWorld } from "./world.ts";

await runService("monitor", loadMonitorConfig, async ({ config, logger, onClose, stopping }) => {
  const tls = tlsFiles(config);
  const client = await connectMongo({ uri: config.MONGODB_URI, service: "monitor", logger, stopping });
  onClose("mongodb", () => client.close());
  const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "monitor");

  const entities = createClient(EntityService, { address: config.ENTITY_ADDRESS, caller: "monitor", tls });
  onClose("entity client", () => entities.close());
  const expectEntity = async (caller: CallerContext, entityId: string) => {
    await entities.getEntity({ caller: toProtoCaller(caller), entityId });
  };

  const kafka = createKafka({ ...kafkaOptions(config), clientId: "monitor", logger });

  function startWorld(environment: Environment, concurrency: number) {
    const topicFor = (name: keyof typeof topicNames) => kafka.topicFor(environment, topicNames[name]);
    const db = databases[environment];
    const producer = kafka.producer();
    onClose(`${environment} producer`, () => producer.close());
    const relay = runOutboxRelay({ db, producer, owner: `${hostname()}:${randomUUID()}`, logger });
    onClose(`${environment} outbox relay`, () => relay.stop());

    const world = createWorld({
      environment,
      client,
      db,
      topics: {
        verificationRequested: topicFor("verificationRequested"),
        webhookRequested: topicFor("webhookRequested"),
      },
      expectEntity,
      allowPrivateTargets: config.WEBHOOK_ALLOW_PRIVATE_TARGETS,
      runTimeoutMs: config.RUN_TIMEOUT_SECONDS * 1_000,
      fastClock: fastClockOf(config),
      nudge: relay.nudge,
      now: () => new Date(),
      logger,
    });
    const { verificationCompleted: onCompleted, changeDetected: onChange } = world.records;
    const completedTopic = topicFor("verificationCompleted");
    const consumer = kafka.runConsumer({
      groupId: `monitor.${environment}`,
      subscriptions: [
        subscription({ topic: completedTopic, schema: VerificationCompletedSchema, handle: onCompleted }),
        subscription({ topic: topicFor("changeDetected"), schema: ChangeDetectedSchema, handle: onChange }),
      ],
      concurrency,
      logger,
    });
    onClose(`${environment} consumer`, () => consumer.stop());

    const scheduling = runScheduler(world.scheduler, {
      pollMs: config.SCHEDULE_POLL_MS,
      onClaimed: relay.nudge,
      signal: stopping,
      logger,
    });
    onClose(`${environment} scheduler`, () => scheduling);
    return world;
  }

  const handlers = createMonitorHandlers({
    live: startWorld("live", config.LIVE_CONCURRENCY),
    sandbox: startWorld("sandbox", config.SANDBOX_CONCURRENCY),
  });
  const server = await serveRpc({
    service: MonitorService,
    handlers,
    callers: monitorCallers,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls,
    logger,
    translate: translateMongoError,
  });
  onClose("grpc server", () => server.close());
  logger.info({ port: server.port }, "serving");
});
