import { createAdmission } from "@vvs/fair-queue";
import { createKafka, kafkaOptions, subscription, topicNames } from "@vvs/kafka";
import { runService } from "@vvs/lifecycle";
import {
  connectMongo,
  databaseClock,
  environmentDatabases,
  mongoOptions,
  pingMongo,
  translateMongoError,
} from "@vvs/mongo";
import { runOutboxRelay } from "@vvs/outbox";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { MonitorStateChangedSchema, VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { serveRpc, tlsFiles } from "@vvs/rpc";
import { environments } from "@vvs/tenant";
import { runPublisher } from "./announcements/publisher.ts";
import { callers } from "./api.ts";
import { loadEntityConfig } from "./config.ts";
import { createEntityApplication } from "./domain.ts";
import { collectionsOf } from "./model/documents.ts";
import { hostMatchIndex } from "./name-index/host.ts";
import { observeFiles } from "./registry-load/files-age-metrics.ts";
import { startRekeying } from "./tins/rekey.ts";

/** Maximum number of records that are handled at the same time in an environment; those of verifications share commands. */
const RECORDS_AT_ONCE = { live: 100, sandbox: 50 } as const;

await runService("entity", loadEntityConfig, async ({ config, logger, onClose, stopping }) => {
  const client = await connectMongo({ ...mongoOptions(config), service: "entity", logger, stopping });
  onClose("mongodb", () => client.close());
  const now = await databaseClock({ client, stopping });

  const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "entity");
  const index = hostMatchIndex({
    thread: {
      mongodb: mongoOptions(config),
      databases: { live: databases.live.databaseName, sandbox: databases.sandbox.databaseName },
    },
    logger,
    now,
  });
  onClose("name index", () => index.close());

  const collections = { live: collectionsOf(databases.live), sandbox: collectionsOf(databases.sandbox) };
  const rekeying = startRekeying({ collections, stopping, logger });
  onClose("rekeying", () => rekeying.ended());

  // Only live: the sandbox's registry comes from the migration and never changes.
  const db = databases.live;
  const kafka = createKafka({ ...kafkaOptions(config), clientId: "entity", logger });
  // By two services, so that neither hides the other's lag when it is down.
  const groups = kafka.observeGroups({ now, stopping, logger });
  onClose("lag of groups", () => groups.close());
  const producer = kafka.producer();
  onClose("producer", () => producer.close());
  const relay = runOutboxRelay({ db, producer, logger });
  onClose("outbox relay", () => relay.stop());
  const topic = kafka.topicFor("live", topicNames.registryChanged);
  const publisher = runPublisher({ client, db, topic, nudge: relay.nudge, logger });
  onClose("registry publisher", () => publisher.stop());

  onClose("files", observeFiles(collectionsOf(db), now));

  const { handlers, beside, records } = createEntityApplication({
    client,
    databases,
    index,
    tinKeys: config.TIN_KEYS,
    tinHashKeys: config.TIN_HASH_KEYS,
    sandboxEntityCap: config.SANDBOX_ENTITY_CAP,
    now,
  });
  for (const environment of environments) {
    const { verificationCompleted, monitorStateChanged } = records[environment];
    const topicOf = (name: keyof typeof topicNames) => kafka.topicFor(environment, topicNames[name]);
    const completed = { schema: VerificationCompletedSchema, handle: verificationCompleted };
    const changed = { topic: topicOf("monitorStateChanged"), schema: MonitorStateChangedSchema };
    const consumer = kafka.runConsumer({
      groupId: `entity.${environment}`,
      subscriptions: [
        subscription({ ...completed, topic: topicOf("verificationCompleted") }),
        subscription({ ...completed, topic: topicOf("verificationCompletedDirect") }),
        subscription({ ...changed, handle: monitorStateChanged }),
      ],
      concurrency: RECORDS_AT_ONCE[environment],
      logger,
    });
    onClose(`${environment} consumer`, () => consumer.stop());
  }
  const server = await serveRpc({
    service: EntityService,
    handlers,
    callers,
    unqueued: ["getCheckSubjects"],
    maxBegun: { listEntities: 2, lookUp: 4, createEntity: 4 },
    beside,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls: tlsFiles(config),
    logger,
    translate: translateMongoError,
    admit: createAdmission({ seats: config.CALL_SEATS }),
    ping: pingMongo(client),
  });
  onClose("grpc server", () => server.close());
  logger.info({ port: server.port }, "serving");
  // Look-ups by name are slower without the index, and find less. So a rollout ends a pod only when its successor has one.
  if (!(await index.whenReady(config.NAME_INDEX_WAIT_SECONDS * 1_000, stopping)) && !stopping.aborted) {
    logger.warn(
      { waited_seconds: config.NAME_INDEX_WAIT_SECONDS },
      "ready without the name index; MongoDB answers meanwhile",
    );
  }
});
