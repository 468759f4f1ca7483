import { allTopics, createKafka, type KafkaOptions, type TopicSettings } from "@vvs/kafka";
import { connectMongo } from "@vvs/mongo";
import { migrate as migrateAccount } from "../services/account/src/migrate.ts";
import { migrate as migrateChangeDetector } from "../services/change-detector/src/migrate.ts";
import { migrate as migrateEntity } from "../services/entity/src/migrate.ts";
import { migrate as migrateMonitor } from "../services/monitor/src/migrate.ts";
import { migrate as migrateVerification } from "../services/verification/src/migrate.ts";
import { migrate as migrateWebhookDispatcher } from "../services/webhook-dispatcher/src/migrate.ts";

export interface MigrateOptions {
  readonly mongodbUri: string;
  readonly databasePrefix: string;
  readonly kafka: KafkaOptions;
  readonly topics?: TopicSettings;
}

/**
 * Brings stores and topics to what this version needs: collections, indexes, the sandbox registry, topics. Repeatable,
 * and safe before, during and after a rollout. No service creates any of it by itself. Errors: a store that is away.
 */
export async function migrateAll({ mongodbUri, databasePrefix, kafka, topics }: MigrateOptions): Promise<void> {
  const stopping = AbortSignal.abort(); // a command does not wait for a database that is away
  const client = await connectMongo({ uri: mongodbUri, service: "migrate", logger: kafka.logger, stopping });
  try {
    const target = { client, prefix: databasePrefix };
    await Promise.all([
      migrateAccount(target),
      migrateEntity(target),
      migrateVerification(target),
      migrateMonitor(target),
      migrateChangeDetector(target),
      migrateWebhookDispatcher(target),
      createKafka(kafka).ensureTopics(allTopics(kafka.topicPrefix, topics)),
    ]);
  } finally {
    await client.close();
  }
}
