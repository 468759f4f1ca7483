import { createKafka, kafkaOptions, subscription, topicNames } from "@vvs/kafka";
import { runService } from "@vvs/lifecycle";
import { connectMongo, databaseClock, environmentDatabases, mongoOptions } from "@vvs/mongo";
import { runOutboxRelay } from "@vvs/outbox";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { environments } from "@vvs/tenant";
import { loadChangeDetectorConfig } from "./config.ts";
import { createHandleCompleted } from "./records.ts";

await runService("change-detector", loadChangeDetectorConfig, async ({ config, logger, onClose, stopping }) => {
  const client = await connectMongo({ ...mongoOptions(config), service: "change-detector", logger, stopping });
  onClose("mongodb", () => client.close());
  const now = await databaseClock({ client, stopping });
  const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "change-detector");

  const kafka = createKafka({ ...kafkaOptions(config), clientId: "change-detector", logger });
  // By two services, so that neither hides the other's lag when it is down.
  const groups = kafka.observeGroups({ now, stopping, logger });
  onClose("lag of groups", () => groups.close());
  const concurrency = { live: config.LIVE_CONCURRENCY, sandbox: config.SANDBOX_CONCURRENCY };

  const consumers = environments.map((environment) => {
    const db = databases[environment];
    const producer = kafka.producer();
    onClose(`${environment} producer`, () => producer.close());
    const relay = runOutboxRelay({ db, producer, logger });
    onClose(`${environment} outbox relay`, () => relay.stop());

    const changesTopic = kafka.topicFor(environment, topicNames.changeDetected);
    const { nudge } = relay;
    const handle = createHandleCompleted({ environment, client, db, topic: changesTopic, nudge, now, logger });
    const topic = kafka.topicFor(environment, topicNames.verificationCompleted);
    const consumer = kafka.runConsumer({
      groupId: `change-detector.${environment}`,
      subscriptions: [subscription({ topic, schema: VerificationCompletedSchema, handle })],
      concurrency: concurrency[environment],
      logger,
    });
    onClose(`${environment} consumer`, () => consumer.stop());
    return consumer;
  });

  // Consuming is the only task of this service, so it is ready once both consumers have joined their groups.
  const stopped = new Promise((resolve) => stopping.addEventListener("abort", resolve, { once: true }));
  await Promise.race([Promise.all(consumers.map(({ ready }) => ready)), stopped]);
});
